/** A refused request of Entra ID: the code is for the operator, Entra ID gets one of two errors. */
import type { RefusalCode } from '../refusals.js'

export class EntraRefusal extends Error {
  override readonly name = 'EntraRefusal'

  constructor(
    readonly code: RefusalCode,
    /** The parameter or claim that was wrong. Never a secret, and nothing about the person. */
    readonly detail: string,
    options?: { cause?: unknown },
  ) {
    super(`${code}: ${detail}`, options)
  }

  /** Microsoft's reference names these two errors. */
  get error(): 'access_denied' | 'temporarily_unavailable' {
    return this.code === 'unavailable' ? 'temporarily_unavailable' : 'access_denied'
  }
}
