/** Finds a verification by its id: in production in the audit log, in the sandbox among the latest verifications of the tenant. */

import type { PackGrade } from '../../models/pack/grades.js'
import type { Clock } from '../lib/clock.js'
import type { Store, StoreTransaction } from '../storage/store.js'
import type { TemplateVault } from '../users/template-vault.js'
import type { CalledUser } from './call.js'
import type { CaptureIntegrity } from './capture/capture-integrity.js'
import type { Possession } from './possession.js'
import type { Reason } from './reasons.js'

/** Number of verifications that the sandbox keeps of each tenant: the latest ones. */
export const SANDBOX_VERIFICATIONS = 1000

/** Facts of a verification, as its audit entry names them. Entries of earlier versions lack some of the optional ones. */
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
  model_grade?: PackGrade
  acr?: string
  /** Proof of the passkey that has signed; absent where none was asked. */
  passkey_amr?: Possession
  /** Language and template of the text that the person was shown; absent where the verdict names none. */
  display_locale?: string
  display_version?: string
  policy_hash?: string
  policy_rule?: string
  approval_id?: string
  /** Signals of the capture; absent where the request brought no report. */
  capture_integrity?: CaptureIntegrity
}

/** Facts that the caller states about a verification. */
export interface Asked {
  /** The user whom the caller takes to be the verified one; null where the caller names nobody. */
  user: CalledUser | null
  /** Hash of an action, as in the claim `action_hash`; only together with `user`. */
  actionHash: string | undefined
  /** Hash of a text, as in the claim `display_hash`; only together with `user`. */
  displayHash: string | undefined
}

export interface FoundVerification {
  facts: VerificationFacts
  /** Whether the verification was for the action with the asked hash; null where none was asked. */
  actionMatches: boolean | null
  /** Whether the person was shown the text with the asked hash; null where none was asked. */
  displayMatches: boolean | null
}

/** Hashes next to the facts: production keeps digests of them that are keyed by the user's data key. */
interface KeptHashes {
  action_hash?: string
  display_hash?: string
}

/** A verification that was just made. */
export interface NewVerification {
  id: string
  tenantId: string
  user: CalledUser
  actionHash: string
  /** Hash of the text that the person was shown; undefined where the verdict names none. */
  displayHash: string | undefined
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
    { user, actionHash, displayHash }: Asked,
  ): Promise<FoundVerification | null> {
    const found = await this.store.read.auditedVerification(tenantId, verificationId)
    if (!found) return null
    const facts = JSON.parse(found.entry) as VerificationFacts & KeptHashes & { subject?: string }
    if (!user) {
      // Nobody can compute the pseudonym without the user id. So only the log says that the user was erased, and a restored log may not.
      const isShown = facts.subject !== undefined && !found.isErased && !found.isBeforeRestore
      return isShown ? { facts, actionMatches: null, displayMatches: null } : null
    }
    const subject = await this.vault.find(this.store.read, user.blindIndex, user.id)
    // A user who was erased and enrolled again has another data key, and so another pseudonym.
    if (!subject || subject.pseudonym !== facts.subject) return null
    const matches = (asked: string | undefined, kept: string | undefined) =>
      asked === undefined ? null : this.vault.auditDigest(subject, asked) === kept
    return {
      facts,
      actionMatches: matches(actionHash, facts.action_hash),
      displayMatches: matches(displayHash, facts.display_hash),
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
    { id, tenantId, user, actionHash, displayHash, facts }: NewVerification,
  ): Promise<void> {
    await tx.keepSandboxVerification(
      {
        id,
        tenantId,
        blindIndex: user.blindIndex,
        facts: JSON.stringify({ ...facts, action_hash: actionHash, display_hash: displayHash }),
        expiresAt: this.clock.now() + this.keptMs,
      },
      SANDBOX_VERIFICATIONS,
    )
  }

  async find(
    tenantId: string,
    verificationId: string,
    { user, actionHash, displayHash }: Asked,
  ): Promise<FoundVerification | null> {
    const found = await this.store.read.sandboxVerification(tenantId, verificationId)
    if (!found || found.expiresAt <= this.clock.now()) return null
    if (user && !user.blindIndex.equals(found.blindIndex)) return null
    const facts = JSON.parse(found.facts) as VerificationFacts & KeptHashes
    const matches = (asked: string | undefined, kept: string | undefined) =>
      asked === undefined ? null : asked === kept
    return {
      facts,
      actionMatches: matches(actionHash, facts.action_hash),
      displayMatches: matches(displayHash, facts.display_hash),
    }
  }
}
