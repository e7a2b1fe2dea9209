/**
 * The parts that features add to the two calls that take captures: fields of the body and of the answer, error codes, checks and writes. The
 * calls know these shapes only, and a service without a feature has its fields nowhere.
 */
import type { TSchema } from 'typebox'
import type { Possession } from '../contract/acr.js'
import type { ErrorCode } from '../contract/error-codes.js'
import type { DomainError } from '../lib/domain-error.js'
import type { Standing } from '../storage/records.js'
import type { StoreTransaction } from '../storage/store.js'
import type { Subject } from '../users/template-vault.js'
import type { Film } from '../verification/biometric-provider.js'
import type { CaptureInput, Note, UserCall } from '../verification/call.js'
import type { PictureField } from '../verification/capture/images.js'
import type { Condition, Verdict, VerifyCall } from '../verification/verdict.js'
import type { AuditFacts, Parameter } from './endpoint.js'
import type { GoodOnce } from './good-once.js'
import type { Services } from './services.js'
import type { VerdictField } from './verdict-fields.js'

/** Schemas of fields by their names. */
export type Fields = Readonly<Record<string, TSchema>>

/** Error codes that a part adds to a call. */
export interface Refusing {
  errors?: readonly ErrorCode[]
  /** The errors that use up what the call brings that is good once. If it stayed good, it would allow any number of tries. */
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
export interface Acting {
  actions?: ActionKinds
}

/** The call for which pictures are captured, and its action in RFC 8785 canonical form; null for an enrollment. */
export interface CapturePurpose {
  purpose: 'verify' | 'enroll'
  action: string | null
}

/** Frames that were captured as they were asked for. They are good for one call. */
export interface OpenedCapture extends GoodOnce {
  film: Film
  /** Facts that parts of the call have kept for it; null for none. */
  note: Note | null
}

/** A field of verifies and enrollments that brings frames instead of photos. */
export interface CapturePart extends Pick<Refusing, 'errors'> {
  field: PictureField
  schema: TSchema
  /** @returns opens what the frames of a request were captured for @throws DomainError */
  create(services: Services): (call: UserCall<CaptureInput>, asked: CapturePurpose) => Promise<OpenedCapture>
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
  /** A thing that was made for this evidence and is good once; null for none. */
  once: GoodOnce | null
  /** Checks it, before the pictures count. @param subject the user as found; null for one who is not enrolled @throws DomainError */
  prove(subject: Subject | null): Promise<Evidence>
}

/** A part of verifies in one environment. */
export interface VerifyWork<Evidence = unknown> {
  /**
   * @param action in RFC 8785 canonical form
   * @param note facts that came with the frames; null for none, and for photos
   * @returns null for a request without such evidence
   * @throws DomainError
   */
  open?(call: VerifyCall, action: string, note: Note | null): Promise<OpenedProof<Evidence & Proof> | null>
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
  /**
   * Begins a further token of one verify. @returns makes it of the signed JWT, in the transaction of the verdict; its fields get the token as
   * their evidence @throws SignatureAwaited
   */
  furtherToken?(): (jwt: string) => Evidence
  /** Runs in the transaction that uses up what a refused request has brought. @returns facts for its audit entry */
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

type EnrollCall = UserCall<{ user_id: string; add?: boolean; dry_run?: boolean }>

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

/** A part of the look-up of an earlier verification. */
export interface LookupPart {
  /** Parameters that are hashes, to be compared with the fact of the same name: `action_matches` answers `action_hash`. */
  hashes?: Readonly<Record<string, Parameter>>
  /** Answers to its hashes, and facts by their names. */
  response: Fields
}

/** The parts of one kind of call that a service has. */
export interface CallParts {
  verify: readonly VerifyPart[]
  enroll: readonly EnrollPart[]
  capture: readonly CapturePart[]
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

/** The errors of all parts after which what is good once is used up. */
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
