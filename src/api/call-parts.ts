/**
 * The parts that features add to the three calls that take captures: fields of the body and of the answer, error codes, checks and writes. The
 * calls know these shapes only, and a service without a feature has its fields nowhere.
 */
import type { TSchema } from 'typebox'
import type { Mode } from '../biometrics/challenge/steps.js'
import type { Possession } from '../contract/acr.js'
import type { ErrorCode } from '../contract/error-codes.js'
import type { DomainError } from '../lib/domain-error.js'
import type { Standing } from '../storage/records.js'
import type { StoreTransaction } from '../storage/store.js'
import type { Subject } from '../users/template-vault.js'
import type { Note, UserCall } from '../verification/call.js'
import type { Challenge, Purpose } from '../verification/challenge/challenge-book.js'
import type { Condition, Verdict, VerifyCall } from '../verification/verdict.js'
import type { FoundVerification } from '../verification/verification-book.js'
import type { AuditFacts, Parameter } from './endpoint.js'
import type { Services } from './services.js'
import type { VerdictField } from './verdict-fields.js'

/** Schemas of fields by their names. */
type Fields = Readonly<Record<string, TSchema>>

/** Error codes that a part adds to a call. */
interface Refusing {
  errors?: readonly ErrorCode[]
  /** The errors that use up the challenge of the call. A challenge that stayed open would allow any number of tries. */
  spendingErrors?: readonly ErrorCode[]
}

/** Kinds of actions with a form of their own. */
export interface ActionKinds {
  /** Schemas of the kinds, as documents show them. */
  schemas: readonly object[]
  /** A sentence about them, for the description of an action. */
  about: string
  /** @throws DomainError invalid_request for an action of one of the kinds that does not have its form */
  assertValid(action: unknown): void
}

/** Actions that a part adds to a call. */
interface Acting {
  actions?: ActionKinds
}

/** A part of verifies. @template Evidence what it finds in a request or knows of its user, or asks of an approval */
export interface VerifyPart<Evidence = unknown> extends Refusing, Acting {
  request?: Fields
  fields: ReadonlyArray<VerdictField<Evidence>>
  /** Absent for a part of fields only. */
  create?(services: Services): VerifyWork<Evidence>
}

/** Evidence besides the pictures. */
export interface Proof {
  /** Proof that the person holds a key; null for none. */
  possession: Possession | null
}

/** Evidence that a request brings, of which nothing is checked yet. */
interface OpenedProof<Evidence> {
  /** A challenge that was made for this evidence; null for none. */
  challenge: Challenge | null
  /** Checks it, before the pictures count. @param subject the user as found; null for one who is not enrolled @throws DomainError */
  prove(subject: Subject | null): Promise<Evidence>
}

/** A part of verifies in one environment. */
export interface VerifyWork<Evidence = unknown> {
  /**
   * @param action in RFC 8785 canonical form
   * @param challenge the challenge of the frames; null for photos
   * @returns null for a request without such evidence
   * @throws DomainError
   */
  open?(
    call: VerifyCall,
    action: string,
    challenge: Challenge | null,
  ): Promise<OpenedProof<Evidence & Proof> | null>
  /** @returns models that embed the pictures besides the one that decides */
  alsoEmbed?(call: Pick<VerifyCall, 'tenant'>, subject: Subject | null): readonly string[]
  /** Reads what its fields say of the user, who is enrolled, once the pictures are examined. */
  about?(subject: Subject, call: VerifyCall): Promise<Evidence>
  /** Says what an approval of this action has to meet, before the pictures are looked at. @returns null for nothing @throws DomainError */
  prepare?(call: VerifyCall): Promise<(Evidence & Condition) | null>
  /**
   * Says it again in the transaction of the verdict, which obeys this answer: what was set before the transaction began counts, on every node.
   * @param standing of the user; null for one who is not enrolled
   */
  renew?(
    tx: StoreTransaction,
    call: VerifyCall,
    standing: Standing | null,
  ): Promise<(Evidence & Condition) | null>
  /** Runs in the transaction that uses the challenges of a refused request up. @returns facts for its audit entry */
  onRefused?(tx: StoreTransaction, call: VerifyCall, error: DomainError): Promise<AuditFacts>
  /** Runs in the transaction of each verdict. @returns further facts for its audit entry @throws DomainError, which takes the verdict back */
  onVerdict?(
    tx: StoreTransaction,
    call: VerifyCall,
    verdict: Verdict,
    evidence: Evidence | null,
    made: { verificationId: string; at: number },
  ): Promise<AuditFacts>
}

/** Work in the transaction of an enrollment. @returns members of the answer, and facts for the audit entry */
export type EnrollWrite = (
  tx: StoreTransaction,
  subject: Subject,
) => Promise<{ body?: Record<string, unknown>; audit?: AuditFacts }>

type EnrollCall = UserCall<{ user_id: string; add?: boolean; challenge?: { nonce: string } }>

/** A part of enrollments. */
export interface EnrollPart extends Refusing {
  request?: Fields
  /** Members of the answer: null where the part adds nothing to an enrollment. */
  response?: Fields
  create(services: Services): {
    /** Checks which fields of the body go together, before anything else. @throws DomainError invalid_request */
    assertFits?(call: EnrollCall): void
    /** Checks what the request brings, before its pictures count. @returns null for nothing @throws DomainError */
    prepare(call: EnrollCall): Promise<EnrollWrite | null>
  }
}

type ChallengeCall = UserCall<{ user_id: string; action?: unknown; modes?: Mode[] }>

/** A part's addition to one challenge. */
interface ChallengeAddition {
  /** Kept with the challenge, for the verify that uses it. */
  note?: Note
  /** @returns members of the answer @param action in RFC 8785 canonical form; null for an enrollment */
  membersOf(nonce: string, action: string | null): Record<string, unknown>
}

/** A part of challenges. */
export interface ChallengePart extends Refusing, Acting {
  request?: Fields
  /** Members that the answer has only where they are asked for. */
  response?: Fields
  create(services: Services): {
    /** Checks which fields of the body go together, before anything is read. @throws DomainError invalid_request */
    assertFits?(call: ChallengeCall): void
    /**
     * Refuses a challenge that could lead to no approval, and reads what its addition needs, before the transaction of the challenge.
     * @returns null where nothing is asked for
     * @throws DomainError
     */
    prepare(call: ChallengeCall, purpose: Purpose): Promise<ChallengeAddition | null>
  }
}

/** A part of the look-up of an earlier verification. */
export interface LookupPart {
  /** Parameters that are hashes, to be compared with the fact of the same name. */
  hashes?: Readonly<Record<string, Parameter>>
  response: Fields
  /** @returns members of the answer */
  membersOf({ facts, matches }: FoundVerification): Record<string, unknown>
}

/** The parts of one kind of call that a service has. */
export interface CallParts {
  verify: readonly VerifyPart[]
  enroll: readonly EnrollPart[]
  challenge: readonly ChallengePart[]
  lookup: readonly LookupPart[]
  /** Look-ups of a user: schemas of the numbers of credentials that tables of the feature declare. */
  user: ReadonlyArray<{ response: Fields }>
}

/** The fields of all parts in the body of a call. */
export function requestFields(parts: ReadonlyArray<{ request?: Fields }>): Fields {
  return Object.assign({}, ...parts.map(({ request }) => request))
}

/** The members of all parts in the answer. */
export function responseFields(parts: ReadonlyArray<{ response?: Fields }>): Fields {
  return Object.assign({}, ...parts.map(({ response }) => response))
}

export function actionKindsOf(parts: readonly Acting[]): ActionKinds[] {
  return parts.flatMap(({ actions = [] }) => actions)
}

export function errorsOf(parts: readonly Refusing[]): ErrorCode[] {
  return [...new Set(parts.flatMap(({ errors = [] }) => errors))]
}

/** The errors of all parts after which a challenge is used up. */
export function spendingErrorsOf(parts: readonly Refusing[]): ReadonlySet<ErrorCode> {
  return new Set(parts.flatMap(({ spendingErrors = [] }) => spendingErrors))
}

/** Has the parts of a call work one after the other. */
export async function inTurn<Item, Result>(
  items: readonly Item[],
  work: (item: Item, index: number) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = []
  for (const [index, item] of items.entries()) results.push(await work(item, index))
  return results
}
