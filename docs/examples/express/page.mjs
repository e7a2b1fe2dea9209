/** The page's calls. In a browser photos and frames come from <countersign-capture>, which shows the challenge's steps. */

/** Three photos, seconds apart and with the head turned a little, miss far fewer people than one does. */
const PHOTOS_TO_ENROL = 3

/** The action was not countersigned. The button for the way without the face is always there; with `otherWay` the page leads to it. */
export class Refused extends Error {
  /**
   * @param {string} message
   * @param {boolean} otherWay
   */
  constructor(message, otherWay) {
    super(message)
    this.otherWay = otherWay
  }
}

/**
 * @param {string} bank
 * @param {string} user
 * @param {() => Promise<string>} takePhoto
 */
export async function enrol(bank, user, takePhoto) {
  const photos = []
  while (photos.length < PHOTOS_TO_ENROL) photos.push(await takePhoto())
  const enrolled = await post(bank, user, '/enrolment', { photos })
  const { views, message } = await enrolled.json()
  if (!enrolled.ok) throw new Error(message)
  return views
}

/**
 * @param {string} bank
 * @param {string} user
 * @param {string} amount
 * @param {string} to
 * @param {(challenge: { steps: string[] }) => Promise<Array<{ step: number, t_ms: number, image: string }>>} takeFrames
 */
export async function transfer(bank, user, amount, to, takeFrames) {
  const refused = await post(bank, user, '/transfers', { amount, to })
  if (refused.status !== 401) return refused.json()
  const { challenge } = await refused.json()
  if (!challenge) throw new Error('Sign in first.')
  const asked = await post(bank, user, '/step-up/challenge', { action: challenge.action })
  const movements = await asked.json()
  if (!asked.ok) throw new Refused(movements.message, movements.otherWay ?? false)
  const checked = await post(bank, user, '/step-up', { frames: await takeFrames(movements) })
  const { verdict, reason, jwt, message, otherWay = false } = await checked.json()
  if (!checked.ok) throw new Refused(message, otherWay)
  if (verdict !== 'approved') throw new Refused(`Not countersigned: ${reason}`, otherWay)
  return (await post(bank, user, '/transfers', { amount, to }, { [challenge.header]: jwt })).json()
}

/**
 * @param {string} bank
 * @param {string} user
 * @param {string} amount
 * @param {string} to
 */
export async function transferByPhone(bank, user, amount, to) {
  return (await post(bank, user, '/transfers/by-phone', { amount, to })).json()
}

/**
 * @param {string} bank
 * @param {string} user
 * @param {string} path
 * @param {object} body
 * @param {Record<string, string>} [headers]
 */
function post(bank, user, path, body, headers) {
  return fetch(bank + path, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-User': user, ...headers },
    body: JSON.stringify(body),
  })
}
