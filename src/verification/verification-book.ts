/** Finds a verification by its id: in production in the audit log, in the sandbox among the latest verifications of the tenant. */

import type { Clock } from '../lib/clock.js'
import type { Store, StoreTransaction } from '../storage/store.js'
import type { TemplateVault } from '../users/template-vault.js'
import type { CalledUser } from './call.js'
import type { Reason } from './reasons.js'

/** Number of verifications that the sandbox keeps of each tenant: the latest ones. */
export const SANDBOX_VERIFICATIONS = 1000

/** Facts of a verification, as its audit entry names them. The last four are missing from entries that earlier versions wrote. */
export interface VerificationFacts {
  verdict: 'approved' | 'rejected'
  reason: Reason | null
  score: number | null
  threshold: number
  fmr: number
  model: string
  replay_suspected: boolean
  request_id: string
  challenge_id?: string
  capture_session?: string
  fmr_basis?: 'measured' | 'extrapolated'
  model_grade?: 'production' | 'evaluation'
  acr?: string
}

/** Facts that the caller states about a verification. */
export interface Asked {
  /** The user whom the caller takes to be the verified one; null where the caller names nobody. */
  user: CalledUser | null
  /** Hash of an action, as in the claim `action_hash`; only together with `user`. */
  actionHash: string | undefined
}

export interface FoundVerification {
  facts: VerificationFacts
  /** Whether the verification was for the action with the asked hash; null where none was asked. */
  actionMatches: boolean | null
}

/** A verification that was just made. */
export interface NewVerification {
  id: string
  tenantId: string
  user: CalledUser
  actionHash: string
  facts: VerificationFacts
}

export interface VerificationBook {
  /** Keeps a verification within the transaction that makes it. */
  keep(tx: StoreTransaction, verification: NewVerification): Promise<void>
  /** @returns null for an unknown verification, one of another tenant or user, and one of an erased user */
  find(tenantId: string, verificationId: string, asked: Asked): Promise<FoundVerification | null>
}

/** The verifications of production: their audit entries, which are kept without end. */
export class AuditedVerifications implements VerificationBook {
  constructor(
    private readonly store: Pick<Store, 'read'>,
    private readonly vault: Pick<TemplateVault, 'find' | 'auditDigest'>,
  ) {}

  /** Writes nothing: the audit entry of the call is the record. */
  async keep(): Promise<void> {}

  async find(
    tenantId: string,
    verificationId: string,
    { user, actionHash }: Asked,
  ): Promise<FoundVerification | null> {
    const found = await this.store.read.auditedVerification(tenantId, verificationId)
    if (!found) return null
    const facts = JSON.parse(found.entry) as VerificationFacts & { subject?: string; action_hash?: string }
    if (!user) {
      // Nobody can compute the pseudonym without the user id. So only the log says that the user was erased, and a restored log may not.
      const isShown = facts.subject !== undefined && !found.isErased && !found.isBeforeRestore
      return isShown ? { facts, actionMatches: null } : null
    }
    const subject = await this.vault.find(this.store.read, user.blindIndex, user.id)
    // A user who was erased and enrolled again has another data key, and so another pseudonym.
    if (!subject || subject.pseudonym !== facts.subject) return null
    return {
      facts,
      actionMatches:
        actionHash === undefined ? null : this.vault.auditDigest(subject, actionHash) === facts.action_hash,
    }
  }
}

/** The sandbox's verifications. It writes no audit log, so the latest are rows of their own, which the erasure of their user deletes. */
export class SandboxVerifications implements VerificationBook {
  constructor(
    private readonly store: Pick<Store, 'read'>,
    private readonly clock: Clock,
    /** How long a verification is kept while no later ones replace it. */
    private readonly keptMs: number,
  ) {}

  async keep(
    tx: StoreTransaction,
    { id, tenantId, user, actionHash, facts }: NewVerification,
  ): Promise<void> {
    await tx.keepSandboxVerification(
      {
        id,
        tenantId,
        blindIndex: user.blindIndex,
        facts: JSON.stringify({ ...facts, action_hash: actionHash }),
        expiresAt: this.clock.now() + this.keptMs,
      },
      SANDBOX_VERIFICATIONS,
    )
  }

  async find(
    tenantId: string,
    verificationId: string,
    { user, actionHash }: Asked,
  ): Promise<FoundVerification | null> {
    const found = await this.store.read.sandboxVerification(tenantId, verificationId)
    if (!found || found.expiresAt <= this.clock.now()) return null
    if (user && !user.blindIndex.equals(found.blindIndex)) return null
    const facts = JSON.parse(found.facts) as VerificationFacts & { action_hash: string }
    return { facts, actionMatches: actionHash === undefined ? null : actionHash === facts.action_hash }
  }
}
