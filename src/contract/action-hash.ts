/** The hash of an action, and SHA-256 by the Web API that browsers have too. */
import { assertExact } from './actions/action.js'
import { canonicalJson } from './canonical-json.js'
import type { ActionLike } from './inputs.js'

/**
 * @param action the action to be countersigned
 * @returns SHA-256 of the canonical form, 64 digits in lower-case hex: the `action_hash` of a verdict
 * @throws TypeError that names the path of a member that is no plain object, array, string, boolean, null or safe number
 * @example
 * const isSameAction = claims.action_hash === (await actionHash({ type: 'transfer', amount: '12.50' }))
 */
export async function actionHash(action: ActionLike): Promise<string> {
  assertExact(action)
  return sha256Hex(canonicalJson(action))
}

/** @returns SHA-256 of a text in UTF-8, in lower-case hex */
export async function sha256Hex(text: string): Promise<string> {
  const digest = await sha256(new TextEncoder().encode(text))
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

export async function sha256(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
}
