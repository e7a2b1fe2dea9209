/** Claims of idempotency keys where one service has the database to itself. They are in memory, so that a crash frees them. */
import type { Claim, Claims } from '../storage/coordinator.js'

export class LocalClaims implements Claims {
  /** SHA-256 of the payload for which a scope is held, by the scope in hex. */
  private readonly held = new Map<string, Buffer>()

  async claim(scope: Buffer, payloadHash: Buffer): Promise<Claim> {
    const name = scope.toString('hex')
    const holderHash = this.held.get(name)
    if (holderHash) return { holderHash, leaseSeconds: 0 }
    this.held.set(name, payloadHash)
    return { release: () => void this.held.delete(name) }
  }
}
