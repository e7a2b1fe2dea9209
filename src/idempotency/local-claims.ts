/** Claims of a database that one service has for itself: they are in its memory, and a crash frees them. */
import type { Claim, Claims } from '../storage/coordinator.js'

export class LocalClaims implements Claims {
  /** Payload digests by scope. */
  private readonly held = new Map<string, Buffer>()

  async claim(scope: Buffer, payloadHash: Buffer): Promise<Claim> {
    const name = scope.toString('hex')
    const heldFor = this.held.get(name)
    if (heldFor) return { heldFor, leaseSeconds: 0 }
    this.held.set(name, payloadHash)
    return { release: () => void this.held.delete(name) }
  }
}
