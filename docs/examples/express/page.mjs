/** What the page does; in a browser, a photo comes from the camera: canvas.toDataURL('image/jpeg'). */

/** Three photos, seconds apart and with the head turned a little, miss far fewer people than one does. */
const PHOTOS_TO_ENROL = 3

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
 * @param {() => Promise<string>} takePhoto
 */
export async function transfer(bank, user, amount, to, takePhoto) {
  const refused = await post(bank, user, '/transfers', { amount, to })
  if (refused.status !== 401) return refused.json()
  const { challenge } = await refused.json()
  if (!challenge) throw new Error('Sign in first.')
  const checked = await post(bank, user, '/step-up', {
    action: challenge.action,
    photos: [await takePhoto()],
  })
  const { verdict, reason, jwt, message } = await checked.json()
  if (!checked.ok) throw new Error(message)
  if (verdict !== 'approved') throw new Error(`Not countersigned: ${reason}`)
  return (await post(bank, user, '/transfers', { amount, to }, { [challenge.header]: jwt })).json()
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
