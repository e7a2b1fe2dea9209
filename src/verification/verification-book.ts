/** Finds a verification by its id: in production in the audit log, in the sandbox among the latest verifications of the tenant. */

import type { Possession } from '../contract/acr.js'
import type { Reason } from '../contract/verdict.js'
import type { Clock } from '../lib/clock.js'
import type { Store, StoreTransaction } from '../storage/store.js'
import type { TemplateVault } from '../users/template-vault.js'
import type { CalledUser } from './call.js'

/** Number of verifications that the sandbox keeps of each tenant: the latest ones. */
export const SANDBOX_VERIFICATIONS = 1000

/** Facts of a verification by the names of its audit entry. Entries of earlier versions lack some. */
export interface VerificationFacts {
  reason: Reason | null
  replay_suspected: boolean
  /** Session of the hosted page that captured. */
  capture_session?: string
  /** Proof of the passkey that has signed; absent where none was asked. */
  passkey_amr?: Possession
  [fact: string]: unknown
}

/** Facts that the caller states about a verification. */
export interface Asked {
  /** The user whom the caller takes to be the verified one; null where the caller names nobody. */
  user: CalledUser | null
  /** Hashes by the names of facts, such as `action_hash`; only together with `user`. Production keeps digests of them under the user's data key. */
  hashes: Readonly<Record<string, string>>
}

export interface FoundVerification {
  facts: VerificationFacts
  /** @returns whether the verification has the hash that was asked under this name; null where none was asked */
  matches(name: string): boolean | null
}

/** A verification that was just made. */
interface NewVerification {
  id: string
  tenantId: string
  user: CalledUser
  facts: VerificationFacts
}

export type VerificationBook = Pick<SandboxVerifications, keyof SandboxVerifications>

/** The verifications of production: their audit entries, which are kept without end. */
export class AuditedVerifications {
  constructor(
    private readonly store: Pick<Store, 'read'>,
    private readonly vault: Pick<TemplateVault, 'find' | 'auditDigest'>,
  ) {}

  /** Writes nothing: the audit entry of the call is the record. */
  async keep(): Promise<void> {}

  async find(
    tenantId: string,
    verificationId: string,
    { user, hashes }: Asked,
  ): Promise<FoundVerification | null> {
    const found = await this.store.read.auditedVerification(tenantId, verificationId)
    if (!found) return null
    const facts = JSON.parse(found.entry) as VerificationFacts & { subject?: string }
    if (!user) {
      // Nobody can compute the pseudonym without the user id. So only the log says that the user was erased, and a restored log may not.
      const isShown = facts.subject !== undefined && !found.isErased && !found.isBeforeRestore
      return isShown ? { facts, matches: () => null } : null
    }
    const subject = await this.vault.find(this.store.read, user.blindIndex, user.id)
    // A user who was erased and enrolled again has another data key, and so another pseudonym.
    if (!subject || subject.pseudonym !== facts.subject) return null
    return {
      facts,
      matches: (name) =>
        hashes[name] === undefined ? null : this.vault.auditDigest(subject, hashes[name]) === facts[name],
    }
  }
}

/** The sandbox's verifications. It writes no audit log, so the latest are rows of their own, which the erasure of their user deletes. */
export class SandboxVerifications {
  constructor(
    private readonly store: Pick<Store, 'read'>,
    private readonly clock: Clock,
    /** How long a verification is kept while no later ones replace it. */
    private readonly keptMs: number,
  ) {}

  /** Keeps a verification within the transaction that makes it. */
  async keep(tx: StoreTransaction, { id, tenantId, user, facts }: NewVerification): Promise<void> {
    await tx.keepSandboxVerification(
      {
        id,
        tenantId,
        blindIndex: user.blindIndex,
        facts: JSON.stringify(facts),
        expiresAt: this.clock.now() + this.keptMs,
      },
      SANDBOX_VERIFICATIONS,
    )
  }

  /** @returns null for an unknown verification, one of another tenant or user, and one of an erased user */
  async find(
    tenantId: string,
    verificationId: string,
    { user, hashes }: Asked,
  ): Promise<FoundVerification | null> {
    const found = await this.store.read.sandboxVerification(tenantId, verificationId)
    if (!found || found.expiresAt <= this.clock.now()) return null
    if (user && !user.blindIndex.equals(found.blindIndex)) return null
    const facts = JSON.parse(found.facts) as VerificationFacts
    return {
      facts,
      matches: (name) => (hashes[name] === undefined ? null : hashes[name] === facts[name]),
    }
  }
}
