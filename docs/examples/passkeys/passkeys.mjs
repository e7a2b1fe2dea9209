// A backend that registers a passkey for a signed-in user, and asks for face and passkey at a transfer.
// `page` stands for your own page: it runs the camera and WebAuthn in the user's browser, and answers with JSON.
import { PASSKEY_ACR } from 'countersign/client'

/**
 * @typedef {import('countersign/client').ChallengeAnswer['frames']} Frames
 * @typedef {object} Page
 * @property {(steps: string[]) => Promise<Frames>} film
 *   the frames of `<countersign-capture>`
 * @property {(options: object) => Promise<any>} create
 *   `usePasskey(options)` of `countersign/passkey`
 * @property {(options: object) => Promise<any>} get
 *   `usePasskey(options)` of `countersign/passkey`
 */

/**
 * @param {import('countersign/client').Countersign} countersign
 * @param {string} userId the user who is signed in
 * @param {Page} page
 */
export async function registerPasskey(countersign, userId, page) {
  const action = { type: 'register_passkey' }
  const { challenge_id, nonce, steps } = await countersign.createChallenge({ user_id: userId, action })
  const frames = await page.film(steps)
  const verdict = await countersign.verify({
    user_id: userId,
    action,
    challenge: { challenge_id, nonce, frames },
  })
  await countersign.verifyVerdict(verdict.jwt, { userId, action })

  const { verification_id } = verdict
  const begun = await countersign.beginPasskeyRegistration(userId, { verification_id })
  return countersign.registerPasskey(userId, {
    challenge_id: begun.challenge_id,
    nonce: begun.nonce,
    credential: await page.create(begun.options),
    verification_id,
    name: 'phone',
  })
}

/**
 * @param {import('countersign/client').Countersign} countersign
 * @param {string} userId the user who is signed in
 * @param {{ type: string, amount: string, to: string }} action
 * @param {Page} page
 */
export async function transfer(countersign, userId, action, page) {
  const { challenge_id, nonce, steps, passkey } = await countersign.createChallenge({
    user_id: userId,
    action,
    passkey: 'required',
  })
  const frames = await page.film(steps)
  const credential = await page.get(passkey ?? {})
  const { jwt } = await countersign.verify({
    user_id: userId,
    action,
    challenge: { challenge_id, nonce, frames },
    require_passkey: true,
    passkey_assertion: { credential },
  })
  // Only an approval of the face, with movements, and of a passkey goes on from here.
  return countersign.verifyVerdict(jwt, { userId, action, acr: PASSKEY_ACR })
}
