/**
 * The interface between the service and its database. Times are milliseconds since the Unix epoch, and every transaction is durable when
 * its promise resolves.
 */

import type { Environment } from '../config/config.js'
import { docPath } from '../lib/doc-path.js'
import { CodedError } from '../lib/errors.js'
import type { Connection, ReadConnection } from './connection.js'
import type { Coordinator, Presence, ServiceNode } from './coordinator.js'
import type { EpochBook } from './epoch-book.js'
import type {
  ActivityRecord,
  AgedReferenceRecord,
  ApiKeyRecord,
  AuditEnd,
  AuditedVerification,
  AuditRecord,
  AuditSealRecord,
  AuditVerificationRecord,
  CaptureHistory,
  CaptureRecord,
  ChallengeRecord,
  ErasureRecord,
  FollowingReferenceRecord,
  IdempotencyRecord,
  KeyringRecord,
  LoginLinkRecord,
  OwnConsentTextRecord,
  PersonLinkRecord,
  PersonRecord,
  ReferenceRecord,
  SandboxVerificationRecord,
  SealedRow,
  SecondFactorRecord,
  SessionRecord,
  SignInMethod,
  SigningSecretRecord,
  Standing,
  SubjectRecord,
  TenantRecord,
  VerdictKeyRecord,
} from './records.js'
import type { ModelReader, ModelWriter } from './statements/model-statements.js'
import type { WebhookReader, WebhookWriter } from './statements/webhook-statements.js'
import type { Erased, Table } from './table.js'

export interface StoreReader extends WebhookReader, ModelReader {
  /** Statements of a feature on its own tables. They are made once for a connection. @param make prepares them @returns what `make` returned */
  statements<Own extends object>(make: (database: ReadConnection) => Own): Own
  tenantById(id: string): Promise<TenantRecord | undefined>
  tenantByName(name: string): Promise<TenantRecord | undefined>
  /** All tenants, oldest first. */
  tenants(): Promise<TenantRecord[]>
  /** The key with its tenant and the tenant's signing secrets that are valid at `now`; undefined for an unknown key. */
  apiKeyByHash(
    hash: Buffer,
    now: number,
  ): Promise<{ key: ApiKeyRecord; tenant: TenantRecord; secrets: SigningSecretRecord[] } | undefined>
  /** Keys of both environments, newest first. */
  apiKeys(tenantId: string): Promise<ApiKeyRecord[]>
  /** The secrets valid at `now`, the current one first. */
  signingSecrets(tenantId: string, now: number): Promise<SigningSecretRecord[]>
  subject(blindIndex: Buffer): Promise<
    | {
        subject: SubjectRecord
        reference: ReferenceRecord | null
        /** Templates of other models next to the reference. */
        following: FollowingReferenceRecord[]
        /** The template that the reference has become by captures that were taken in; null where none was. */
        aged: AgedReferenceRecord | null
      }
    | undefined
  >
  /**
   * Users of the tenant whose reference this model made, in the order of their blind indexes, from `after` (exclusive; empty for the start).
   */
  referencesAfter(
    tenantId: string,
    environment: Environment,
    model: string,
    after: Buffer,
    limit: number,
  ): Promise<Array<{ subject: SubjectRecord; reference: ReferenceRecord }>>
  /** The subject without the reference, which is larger than all other fields together. */
  subjectWithoutReference(blindIndex: Buffer): Promise<SubjectRecord | undefined>
  /** How many users of the tenant have a reference. */
  referencesOf(tenantId: string): Promise<Record<Environment, number>>
  /** Number of the tenant's users in the sandbox, counted up to `limit`. */
  countSandboxUsers(tenantId: string, limit: number): Promise<number>
  /** Sandbox users that were not used since `before`, the longest unused first. */
  unusedSandboxUsers(before: number, limit: number): Promise<Array<{ blindIndex: Buffer; tenantId: string }>>
  /** Blind indexes of up to `limit` users of the tenant. */
  blindIndexesOf(tenantId: string, limit: number): Promise<Buffer[]>
  /** The subject's captures after `since`. @param digests of the capture that is compared with them */
  captureHistory(
    subjectId: string,
    digests: readonly Buffer[],
    since: number,
    limit: number,
  ): Promise<CaptureHistory>
  /** All that a verdict looks at again within its transaction. @param last position of a history, after which later captures come */
  standing(blindIndex: Buffer, last: number): Promise<Standing | undefined>
  /** When the user was last used; undefined where nothing was noted. */
  activity(blindIndex: Buffer): Promise<ActivityRecord | undefined>
  /** How many credentials besides the face a user has, by the fields of answers. */
  credentialsOf(subjectId: string): Promise<Record<string, number>>
  /** The user's rows as an export shows them, by its fields. @param dataKey of the user */
  exportOf(subjectId: string, dataKey: Buffer): Promise<Record<string, object[]>>
  challenge(id: string): Promise<ChallengeRecord | undefined>
  /** Texts that sessions of the user brought as their own and the user agreed to, oldest first. */
  ownConsentTextsOf(subjectId: string): Promise<OwnConsentTextRecord[]>
  idempotencyRecord(scope: Buffer, now: number): Promise<IdempotencyRecord | undefined>
  /** The first kept response to this payload about this user since then, under any idempotency key. */
  responseToPayload(
    blindIndex: Buffer,
    payloadHash: Buffer,
    since: number,
  ): Promise<IdempotencyRecord | undefined>
  erasure(blindIndex: Buffer, now: number): Promise<ErasureRecord | undefined>
  auditHead(tenantId: string): Promise<AuditRecord | undefined>
  auditVerification(): Promise<AuditVerificationRecord | undefined>
  auditSeal(tenantId: string): Promise<AuditSealRecord | undefined>
  /** The last entry and the seal, read in one snapshot. */
  auditEnd(tenantId: string): Promise<AuditEnd>
  /** Entries in order, from sequence `after` (exclusive). */
  auditEntries(tenantId: string, after: number, limit: number): Promise<AuditRecord[]>
  /** Entries of one event, in order, from `after` (exclusive). Reads no entry of another event. */
  auditEntriesOfEvent(tenantId: string, event: string, after: number, limit: number): Promise<AuditRecord[]>
  /** The audit entry about a verification of the tenant, found by an index. */
  auditedVerification(tenantId: string, verificationId: string): Promise<AuditedVerification | undefined>
  /** A verification of the tenant in the sandbox. */
  sandboxVerification(
    tenantId: string,
    verificationId: string,
  ): Promise<SandboxVerificationRecord | undefined>
  /** One keyring for each master key that opens the database, oldest first. */
  keyrings(): Promise<KeyringRecord[]>
  /** The keys that sign the public verdicts of both environments, in the order in which they begin to sign. */
  verdictKeys(): Promise<VerdictKeyRecord[]>
  /** Rows of a table whose values are sealed under a working key, ordered by id, from `after` (exclusive; empty for the start). */
  sealedRows(table: string, after: string, limit: number): Promise<SealedRow[]>
  /** Entries before the sequence `before` (exclusive), newest first. */
  recentAuditEntries(tenantId: string, before: number, limit: number): Promise<AuditRecord[]>
  /** Entries of one event, newest first, before the sequence `before` (exclusive). Reads no entry of another event. */
  recentAuditEntriesOfEvent(
    tenantId: string,
    event: string,
    before: number,
    limit: number,
  ): Promise<AuditRecord[]>
  /** People in the order of their names. @param tenantId null for the operators of the installation */
  people(tenantId: string | null): Promise<PersonRecord[]>
  /** Operators and people of all tenants. */
  everyone(): Promise<PersonRecord[]>
  personByName(name: string): Promise<PersonRecord | undefined>
  personById(id: string): Promise<PersonRecord | undefined>
  secondFactor(id: string): Promise<SecondFactorRecord | undefined>
  secondFactors(): Promise<SecondFactorRecord[]>
  dashboardSession(hash: Buffer, now: number): Promise<SessionRecord | undefined>
  /** Sessions that have not ended at `now`, newest first. */
  dashboardSessions(now: number): Promise<SessionRecord[]>
  /** The login link that is valid at `now`. */
  loginLink(hash: Buffer, now: number): Promise<LoginLinkRecord | undefined>
  personLink(hash: Buffer, now: number): Promise<PersonLinkRecord | undefined>
  /** When `countersign backup` last succeeded; null for never. */
  lastBackupAt(): Promise<number | null>
  /**
   * The model packs that made the references of an environment, and the number of references of each.
   * @param besides pattern of SQL's LIKE: references next to which a template of such a model is kept are not counted
   */
  referenceModels(
    environment: Environment,
    besides: string,
  ): Promise<Array<{ model: string; amount: number }>>
  counts(): Promise<{ tenants: number; references: Record<Environment, number>; auditEntries: number }>
}

export interface StoreTransaction extends StoreReader, WebhookWriter, ModelWriter {
  /** Statements of a feature on its own tables, which may write. @param make prepares them @returns what `make` returned */
  statements<Own extends object>(make: (database: Connection) => Own): Own
  insertTenant(tenant: TenantRecord): Promise<void>
  setContract(
    tenantId: string,
    contract: Pick<
      TenantRecord,
      'ratePerSecond' | 'burst' | 'fmr' | 'requireLiveness' | 'replaceVerdictMinutes'
    >,
  ): Promise<void>
  setProductionIssued(tenantId: string, at: number): Promise<void>
  setProductionRevealed(tenantId: string, at: number): Promise<void>
  /** @param at null to resume */
  setSuspended(tenantId: string, at: number | null): Promise<void>
  /** Sets the time from which the verifies of a tenant are compared. */
  setDriftSince(tenantId: string, since: number): Promise<void>
  /** Marks the tenant as deleted, ends its keys, and deletes its signing secrets, login links and sessions. */
  closeTenant(tenantId: string, at: number): Promise<void>
  insertApiKey(key: ApiKeyRecord): Promise<void>
  /** Ends every valid key of a type at once, under any name. @returns how many were ended */
  revokeEveryApiKey(tenantId: string, type: Environment, revokedAt: number): Promise<number>
  /**
   * Ends the valid keys of a type and a name (null for the first key and its successors): at once (`revokedAt`), or at the end of a grace
   * period (`validUntil`). @returns how many were ended
   */
  endApiKeys(
    tenantId: string,
    type: Environment,
    name: string | null,
    end: { revokedAt: number } | { validUntil: number },
  ): Promise<number>
  /** Ends the valid keys of a type and a name whose grace period runs at once. @returns how many were ended */
  endGracePeriods(
    tenantId: string,
    type: Environment,
    name: string | null,
    revokedAt: number,
  ): Promise<number>
  insertSigningSecret(secret: SigningSecretRecord): Promise<void>
  setSigningSecretEnd(id: string, validUntil: number): Promise<void>
  /** Deletes all secrets of the tenant but the current one, even those that are still valid. */
  deleteEndedSigningSecrets(tenantId: string): Promise<void>
  insertSubject(subject: SubjectRecord): Promise<void>
  /** Sets the verdict by which the user agrees to a new reference. @param verdict null once it is used */
  setReplaceVerdict(subjectId: string, verdict: { id: string; at: number } | null): Promise<void>
  /** Sets when a sandbox user was last used, unless the stored time is after `unlessSince`. */
  noteSandboxUse(use: {
    blindIndex: Buffer
    tenantId: string
    at: number
    unlessSince: number
  }): Promise<void>
  /** Inserts the verification, and deletes the tenant's oldest ones beyond the latest `count`. */
  keepSandboxVerification(verification: SandboxVerificationRecord, count: number): Promise<void>
  setLockout(
    subjectId: string,
    state: Pick<SubjectRecord, 'failures' | 'lockedUntil' | 'disabledAt'>,
  ): Promise<void>
  /** Inserts the subject's reference, or replaces it with all templates next to it, the aged one too. */
  putReference(reference: ReferenceRecord): Promise<void>
  /** Replaces the sealed content of a reference. */
  resealReference(reference: Pick<ReferenceRecord, 'id' | 'sealed'>): Promise<void>
  insertCapture(capture: CaptureRecord): Promise<void>
  insertChallenge(challenge: ChallengeRecord): Promise<void>
  /** Marks the challenge as used. @returns whether it was unused before */
  useChallenge(id: string, at: number): Promise<boolean>
  /** Inserts the text unless the user has it. */
  keepOwnConsentText(text: OwnConsentTextRecord): Promise<void>
  /** Inserts the record. When one in force exists, the transaction fails with AlreadyExecutedError, here or at its end. */
  insertIdempotencyRecord(record: IdempotencyRecord): Promise<void>
  /**
   * Deletes the subject with its key, reference, captures, own consent texts, kept responses and sign-ins, the webhooks that are to report
   * something about it, and what features keep about it.
   * @returns how many rows were deleted, for the receipt
   */
  eraseSubject(blindIndex: Buffer): Promise<Erased>
  putErasure(erasure: ErasureRecord): Promise<void>
  appendAudit(record: AuditRecord): Promise<void>
  putAuditSeal(seal: AuditSealRecord): Promise<void>
  putAuditVerification(walk: AuditVerificationRecord): Promise<void>
  /**
   * Appends entries after the last one of a tenant's log, and seals the log.
   * @param follow called once, with the entry that is the last at that moment (undefined for an empty log); returns one entry or more
   * @param asked the answer of `auditEnd`, when the transaction has asked for it before
   */
  extendAudit(
    tenantId: string,
    follow: (head: AuditRecord | undefined) => { records: AuditRecord[]; seal: AuditSealRecord },
    asked?: Promise<AuditEnd>,
  ): Promise<void>
  putKeyring(keyring: KeyringRecord): Promise<void>
  deleteKeyring(masterKeyId: string): Promise<void>
  insertVerdictKey(key: VerdictKeyRecord): Promise<void>
  setVerdictKeyEnd(id: string, goneAt: number): Promise<void>
  /** Deletes all keys of an environment at once, the signing one too. */
  deleteVerdictKeys(environment: Environment): Promise<void>
  /** Stores a newly sealed value; the old one is overwritten, in the write-ahead log too. */
  putSealed(table: string, row: SealedRow): Promise<void>
  setLastBackup(at: number): Promise<void>
  insertLoginLink(link: LoginLinkRecord): Promise<void>
  /** Uses up the link. @returns undefined when it is unknown, used or expired */
  takeLoginLink(hash: Buffer, now: number): Promise<LoginLinkRecord | undefined>
  /** Inserts the second factor, or replaces the one with the same id. */
  putSecondFactor(factor: SecondFactorRecord): Promise<void>
  /**
   * Stores that a code was used, unless another transaction has stored a use since `before` was read.
   * @returns whether it was stored
   */
  noteSecondFactorUse(
    before: SecondFactorRecord,
    used: Pick<SecondFactorRecord, 'recovery' | 'lastStep'>,
  ): Promise<boolean>
  deleteSecondFactor(id: string): Promise<void>
  /** Inserts the link, and deletes links that have expired at `now`. */
  insertPersonLink(link: PersonLinkRecord, now: number): Promise<void>
  /** Uses up the link. @returns undefined when it is unknown, used or expired */
  takePersonLink(hash: Buffer, now: number): Promise<PersonLinkRecord | undefined>
  insertDashboardSession(session: SessionRecord): Promise<void>
  /** Inserts the person, or replaces the one with the same id. */
  putPerson(person: PersonRecord): Promise<void>
  setLastSignIn(personId: string, at: number, by: SignInMethod): Promise<void>
  /** Deletes the person with sessions, links and second factor. */
  deletePerson(id: string): Promise<void>
  /**
   * @param personId null for the operator without a name
   * @param but hash of the session that is kept
   * @returns how many were deleted
   */
  deletePersonSessions(personId: string | null, but?: Buffer): Promise<number>
  /** Deletes the sessions and unused links of the tenant and its people. @returns how many of each */
  deleteTenantSignIns(tenantId: string): Promise<{ sessions: number; links: number }>
  /** @returns false when there was no such session */
  deleteDashboardSession(hash: Buffer): Promise<boolean>
  /** Notes that a session is in use. Does nothing for a session that was deleted meanwhile. */
  keepDashboardSession(hash: Buffer, times: Pick<SessionRecord, 'expiresAt' | 'lastUsedAt'>): Promise<void>
  setSessionAuthenticated(
    hash: Buffer,
    proof: Pick<SessionRecord, 'authenticatedAt' | 'secondFactorAt'>,
  ): Promise<void>
  /**
   * Deletes rows that time ends, as `endings.ts` says. Limits the number of rows, because other writers wait meanwhile, and leaves out
   * rows that another transaction holds.
   * @returns whether more rows may have expired
   */
  deleteExpired(now: number): Promise<boolean>
}

export interface CommitReport {
  /** Milliseconds from taking the write lock until the commit was on disk. */
  durationMs: number
  /** Number of transactions that shared the commit. */
  transactions: number
}

/**
 * Says which other transactions may run at the same time. SQLite runs all transactions one after the other, under any scope; on
 * PostgreSQL the scope decides, on this node and on others.
 *
 * - `installation`: the transaction is the only one that runs in the whole cluster. It waits for every commit that is under way on all nodes
 *   and keeps all others out until its own. For rare work only: tenants that are created, changes of keys, entries in all logs at once,
 *   operators.
 * - `rows`: the transaction excludes only transactions that write the same rows, by the database's own row locks, and `installation`. What it
 *   reads may be changed before it writes. For single statements and idempotent writes that belong to no tenant: expired rows, sign-in links,
 *   dashboard sessions, the last backup, the state of the audit verification. Statements over many rows leave out rows that other
 *   transactions hold (`Connection.skipLocked`), so that they neither wait nor deadlock.
 * - a tenant: see `TenantScope`.
 */
export type Scope = 'installation' | 'rows' | TenantScope

/** The transaction reads to decide by, and writes, only rows of one tenant. */
export interface TenantScope {
  tenantId: string
  /**
   * Names the part of the tenant's rows that the transaction touches, beyond the tenant's audit log, which it may always extend.
   * Transactions with different keys may run concurrently in one group; `work` may then be called a second time when one of them fails.
   * Transactions with the same key run one after the other. Without a key, the transaction runs separately among those of the tenant.
   */
  serializationKey?: string | undefined
}

/** Data that several services of one database share. Only PostgreSQL has it. */
export interface SharedStore {
  /** Number of changes of the keyrings so far. */
  keysRevision(): Promise<number>
  /**
   * Refuses to write from now on at any other revision of the keys: values sealed under an older key could never be opened again.
   * @param onStale called when a transaction was refused
   */
  requireKeys(revision: number, onStale: () => void): void
  readonly epochs: EpochBook
  /** Refuses to write from now on once data keys may only be wrapped under epochs after this one. */
  requireEpoch(number: number): void
  /** The scrypt hash of the password of the operator without a name; null when none is kept. */
  operatorPassword(): Promise<string | null>
  /** @returns false when a password exists, which stays unless `replace` is true */
  keepOperatorPassword(hash: string, options?: { replace?: boolean }): Promise<boolean>
}

export interface Store {
  /** Agreements with other services; null for SQLite, which only one service uses, and for commands. */
  readonly coordinator: Coordinator | null
  /** Data that several services share; null for SQLite. */
  readonly shared: SharedStore | null
  /** Reports of this service about itself; null for commands. */
  readonly presence: Presence | null
  /** Services that work on the database now, oldest first. */
  services(): Promise<ServiceNode[]>
  /** The schema version that this code works with. */
  readonly schema: number
  /** All tables, those of features included. */
  readonly tables: readonly Table[]
  /** Whether `backup` works; false when the database's own tools make backups. */
  readonly makesBackups: boolean
  /** Reads committed state only. */
  readonly read: StoreReader
  /**
   * Runs `work` in a transaction. The promise resolves with its result once the effect is durable; when it rejects, nothing has been
   * written.
   *
   * `work` must await only calls of `tx`: SQLite's write lock, or PostgreSQL's locks of the group, are held until it ends.
   *
   * @param scope what the transaction excludes: the narrowest scope that keeps its decisions right
   * @param deadlineMs when to give up waiting for a lock or an answer, on the axis of `performance.now()`; by default SQLite waits 5
   * seconds for the lock and PostgreSQL 4 seconds
   * @throws StoreUnavailableError, also when it is unknown whether PostgreSQL has committed; AlreadyExecutedError; anything that `work`
   * throws
   */
  transaction<T>(scope: Scope, work: (tx: StoreTransaction) => Promise<T>, deadlineMs?: number): Promise<T>
  /** Whether the store can be read and, as far as the last write shows, written. After a failed write it tries to write again. */
  isHealthy(): Promise<boolean>
  /** Whether the database has reported damage: until the next start for SQLite, for ten minutes for PostgreSQL. */
  readonly isCorrupt: boolean
  /** Tries a write that changes nothing. @throws StoreUnavailableError that says why the database cannot be written */
  assertWritable(deadlineMs?: number): Promise<void>
  /**
   * Makes a consistent copy while the service runs and, in a separate file, the data keys of all users as of now, which replace those in
   * `keysFile`. An operator who keeps many copies but only one file of keys thus loses the data of erased users in every copy.
   * @returns the number of users, and the file to which keys from before a change of the working keys were moved (`keptKeysFile`, null when
   * there were none)
   * @throws BackupUnsupportedError when the database has tools of its own for it
   */
  backup(
    file: string,
    keysFile: string,
    onProgress?: (pages: number, totalPages: number) => void,
  ): Promise<{ subjects: number; keptKeysFile: string | null }>
  /** Calls `observer` after every commit; a later call replaces the observer. */
  observeCommits(observer: (report: CommitReport) => void): void
  /** Whether a request to the database has waited for more than a second since then. @param sinceMs on the axis of `performance.now()` */
  hasBeenSilentSince(sinceMs: number): boolean
  /** Announces that the service ends: from here on, a database that does not answer within seconds is given up. */
  leave(): void
  /** Bytes on disk of the database, and of its write-ahead log; null when it has no log of its own. */
  size(): { database: number; log: number | null }
  /** Checks the integrity of the whole database. @returns a line for each problem */
  check(): Promise<string[]>
  close(): Promise<void>
}

/** The database cannot be used: it is another application's, a newer version's, damaged, or out of reach. */
export class StoreOpenError extends CodedError<'database_unusable'> {
  override readonly name = 'StoreOpenError'
  /** Whether trying again later may succeed without anybody's help: the server is out of reach, or is starting. */
  readonly isPassing: boolean
  constructor(message: string, options: { cause?: unknown; isPassing?: boolean } = {}) {
    super('database_unusable', message, options)
    this.isPassing = options.isPassing ?? false
  }
}

/** An earlier version made the database, and the process that opens it may not change the schema. */
export class SchemaOutdatedError extends CodedError<'schema_outdated'> {
  override readonly name = 'SchemaOutdatedError'
  /** @param database its name in messages */
  constructor(database: string, found: number, own: number) {
    super(
      'schema_outdated',
      `${database} has schema ${found}, made by an earlier Countersign; the schema of this one is ${own}. Only \`countersign serve\` and \`countersign migrate\` change a schema: until one of them has, use the commands of the version that serves it.`,
    )
  }
}

/** Backups of this database are made by its own tools. */
export class BackupUnsupportedError extends CodedError<'backup_unsupported'> {
  override readonly name = 'BackupUnsupportedError'
  constructor() {
    super(
      'backup_unsupported',
      'A PostgreSQL database is backed up and restored by its own tools, pg_dump or pg_basebackup.',
    )
  }
}

/** The database cannot serve now (locked, full disk, read-only). Trying again later may work. */
export class StoreUnavailableError extends CodedError<'store_unavailable'> {
  override readonly name: string = 'StoreUnavailableError'
  constructor(message: string, options?: { cause?: unknown }) {
    super('store_unavailable', message, options)
  }
}

/** The database is damaged. Trying again does not help; the runbook in the message says what does. */
export class StoreCorruptError extends StoreUnavailableError {
  override readonly name = 'StoreCorruptError'
  constructor(message: string, options?: { cause?: unknown }) {
    super(
      `${message}: the database is damaged; ${docPath('operations/runbooks.md#database_corrupt')} says what to do`,
      options,
    )
  }
}

/** Wraps a reader: `onError` gets every error and returns the error to throw instead. */
export function readerWhoseErrors(onError: (error: unknown) => unknown, reader: StoreReader): StoreReader {
  const { statements, ...methods } = reader
  return {
    ...methodsWhoseErrors(onError, methods),
    statements: (make) => methodsWhoseErrors(onError, statements(make)),
  }
}

/** @param methods each returns a promise */
function methodsWhoseErrors<Methods extends object>(
  onError: (error: unknown) => unknown,
  methods: Methods,
): Methods {
  const entries = Object.entries(methods) as Array<[string, (...args: unknown[]) => Promise<unknown>]>
  return Object.fromEntries(
    entries.map(([name, method]) => [
      name,
      (...args: unknown[]) =>
        method(...args).catch((error) => {
          throw onError(error)
        }),
    ]),
  ) as Methods
}

/** Another service has executed the request with this idempotency key first. */
export class AlreadyExecutedError extends Error {
  override readonly name = 'AlreadyExecutedError'
  constructor() {
    super('There is a kept response for this idempotency key.')
  }
}
