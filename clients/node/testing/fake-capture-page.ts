/** The hosted capture page as a test sees it: the test plays the person. */
import type { PasskeySignatureOutcome } from '../../../src/contract/sandbox-passkeys.js'

/**
 * State of the page after a step of the person. `open`: the page can capture. `code`: the page asks for the confirmation code.
 * `again`: the page asks for another capture. `over`: the page leads back to `return_url`.
 */
export type CapturePageState = 'open' | 'again' | 'code' | 'over'

/**
 * Steps of a person on the hosted capture page. Each method takes the `session_id` and returns the state of the page.
 * @example
 * const { session_id } = await client.createCaptureSession({ user_id: 'ada+match', action, return_url })
 * await fake.capturePage.capture(session_id)
 * const proof = new URL(fake.capturePage.returnUrl(session_id)).searchParams.get('capture_proof')
 * const session = await client.getCaptureSession(session_id, { proof })
 */
export interface FakeCapturePage {
  /** The person opens the link. @throws Error for a session that is unknown or has ended */
  open(sessionId: string): CapturePageState
  /** The person types the confirmation code. The fifth wrong one ends the session. @throws Error for a session that is unknown or has ended */
  typeCode(sessionId: string, code: string): CapturePageState
  /**
   * The person agrees and is captured once. The ending of the user id decides the result, as everywhere in the sandbox. The third
   * capture that fails ends the session.
   * @param passkey where the session asks for a passkey: outcome of its signature, by default `accepted`, or null for a person who declines
   * @throws Error where the code was not typed yet, and for a session that is unknown or has ended
   */
  capture(sessionId: string, passkey?: PasskeySignatureOutcome | null): Promise<CapturePageState>
  /** The person goes back, which ends the session. @throws Error for a session that is unknown or has ended */
  cancel(sessionId: string): CapturePageState
  /**
   * The address to which the page leads the browser that captured: your `return_url` with `capture_session`, and with `capture_proof` where
   * the session has a result. @throws Error for a session that is unknown or under way
   */
  returnUrl(sessionId: string): string
}
