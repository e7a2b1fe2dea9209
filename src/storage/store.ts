/** What the service needs of a database. Every transaction is durable when its promise resolves. */

import type { Environment } from '../config/config.js'
import { CodedError } from '../lib/errors.js'
import type { Coordinator, Presence, ServiceNode } from './coordinator.js'
import type { EpochBook } from './epoch-book.js'
import type {
  ApiKeyRecord,
  AuditEnd,
  AuditRecord,
  AuditSealRecord,
  AuditWalkRecord,
  CaptureHistory,
  CaptureLogoRecord,
  CaptureRecord,
  CaptureSessionRecord,
  ChallengeRecord,
  ConsentTextRecord,
  ErasureRecord,
  IdempotencyRecord,
  KeyringRecord,
  LoginLinkRecord,
  PersonLinkRecord,
  PersonRecord,
  ReferenceRecord,
  SealedKind,
  SealedRow,
  SecondFactorRecord,
  SessionRecord,
  SignInMethod,
  SigningSecretRecord,
  SubjectRecord,
  TenantRecord,
  TrafficRecord,
  TrafficResolution,
} from './records.js'
import type { RequestReader, RequestWriter } from './request-store.js'
import type { WebhookReader, WebhookWriter } from './webhook-store.js'

export interface StoreReader extends WebhookReader, RequestReader {
  tenantById(id: string): Promise<TenantRecord | undefined>
  tenantByName(name: string): Promise<TenantRecord | undefined>
  /** Oldest first. */
  tenants(): Promise<TenantRecord[]>
  /** With the tenant's signing secrets, as `signingSecrets` has them. */
  apiKeyByHash(
    hash: Buffer,
    now: number,
  ): Promise<{ key: ApiKeyRecord; tenant: TenantRecord; secrets: SigningSecretRecord[] } | undefined>
  /** Newest first. */
  apiKeys(tenantId: string): Promise<ApiKeyRecord[]>
  /** Those valid at `now`, the current one first. */
  signingSecrets(tenantId: string, now: number): Promise<SigningSecretRecord[]>
  subject(
    blindIndex: Buffer,
  ): Promise<{ subject: SubjectRecord; reference: ReferenceRecord | null } | undefined>
  /** Without the reference, which is larger than all the rest. */
  subjectAlone(blindIndex: Buffer): Promise<SubjectRecord | undefined>
  /** How many users of the tenant have a reference. */
  referencesOf(tenantId: string): Promise<Record<Environment, number>>
  /** How many users of the sandbox the tenant has, counted up to `limit`. */
  countSandboxUsers(tenantId: string, limit: number): Promise<number>
  /** Look-ups of users of the sandbox who were not used since `before`, the longest unused first. */
  unusedSandboxUsers(before: number, limit: number): Promise<Buffer[]>
  /** Under which some of a tenant's users are found. */
  blindIndexesOf(tenantId: string, limit: number): Promise<Buffer[]>
  /** The subject's captures after `since`, against which one of these digests is held. */
  captureHistory(
    subjectId: string,
    digests: readonly Buffer[],
    since: number,
    limit: number,
  ): Promise<CaptureHistory>
  /** In the order in which they were remembered, after the place `last` of a history. */
  capturesAfter(subjectId: string, last: number): Promise<CaptureRecord[]>
  challenge(id: string): Promise<ChallengeRecord | undefined>
  captureSession(id: string): Promise<CaptureSessionRecord | undefined>
  /** Open sessions that expired at `until` or before and that webhooks were not told of yet, the longest expired first. */
  untoldExpiredCaptureSessions(until: number, limit: number): Promise<CaptureSessionRecord[]>
  captureLogo(tenantId: string): Promise<CaptureLogoRecord | undefined>
  /** Texts that people have agreed to, the latest first. */
  consentTexts(tenantId: string, limit: number): Promise<ConsentTextRecord[]>
  /** The text of this hash, once for each version under which it was shown. */
  consentText(tenantId: string, sha256: Buffer): Promise<ConsentTextRecord[]>
  idempotencyRecord(scope: Buffer, now: number): Promise<IdempotencyRecord | undefined>
  erasure(blindIndex: Buffer, now: number): Promise<ErasureRecord | undefined>
  auditHead(tenantId: string): Promise<AuditRecord | undefined>
  auditVerification(): Promise<AuditWalkRecord | undefined>
  auditSeal(tenantId: string): Promise<AuditSealRecord | undefined>
  /** Both of one snapshot. */
  auditEnd(tenantId: string): Promise<AuditEnd>
  /** In order, from `after` (exclusive). */
  auditEntries(tenantId: string, after: number, limit: number): Promise<AuditRecord[]>
  /** Entries of one event, in order, from `after` (exclusive). Reads no entry of another event. */
  auditEntriesOfEvent(tenantId: string, event: string, after: number, limit: number): Promise<AuditRecord[]>
  /** One a master key that opens the database, oldest first. */
  keyrings(): Promise<KeyringRecord[]>
  /** What is sealed under a working key, by id, from `after` (exclusive; empty for the start). */
  sealedRows(kind: SealedKind, after: string, limit: number): Promise<SealedRow[]>
  /** Newest first, before the sequence `before` (exclusive). */
  recentAuditEntries(tenantId: string, before: number, limit: number): Promise<AuditRecord[]>
  /** Entries of one event, newest first, before the sequence `before` (exclusive). Reads no entry of another event. */
  recentAuditEntriesOfEvent(
    tenantId: string,
    event: string,
    before: number,
    limit: number,
  ): Promise<AuditRecord[]>
  /** In the order of their names. @param tenantId null for the operators of the installation */
  people(tenantId: string | null): Promise<PersonRecord[]>
  /** Operators and people of all tenants. */
  everyone(): Promise<PersonRecord[]>
  personByName(name: string): Promise<PersonRecord | undefined>
  personById(id: string): Promise<PersonRecord | undefined>
  secondFactor(id: string): Promise<SecondFactorRecord | undefined>
  secondFactors(): Promise<SecondFactorRecord[]>
  dashboardSession(hash: Buffer, now: number): Promise<SessionRecord | undefined>
  /** Sessions that have not ended at `now`, the newest first. */
  dashboardSessions(now: number): Promise<SessionRecord[]>
  /** When `countersign backup` last ended well; null for never. */
  lastBackupAt(): Promise<number | null>
  /** From `since` on, oldest first. */
  traffic(tenantId: string, resolution: TrafficResolution, since: number): Promise<TrafficRecord[]>
  trafficAt(tenantId: string, resolution: TrafficResolution, at: number): Promise<TrafficRecord | undefined>
  /** With which model packs the references of an environment were made, and how many with each. */
  referenceModels(environment: Environment): Promise<Array<{ model: string; amount: number }>>
  counts(): Promise<{ tenants: number; references: Record<Environment, number>; auditEntries: number }>
}

export interface StoreTransaction extends StoreReader, WebhookWriter, RequestWriter {
  insertTenant(tenant: TenantRecord): Promise<void>
  setContract(
    tenantId: string,
    contract: Pick<
      TenantRecord,
      'ratePerSecond' | 'burst' | 'fmr' | 'requireLiveness' | 'replaceVerdictMinutes'
    >,
  ): Promise<void>
  setCapturePage(tenantId: string, settings: string | null): Promise<void>
  setProductionIssued(tenantId: string, at: number): Promise<void>
  setProductionRevealed(tenantId: string, at: number): Promise<void>
  /** Null to resume. */
  setSuspended(tenantId: string, at: number | null): Promise<void>
  /** Marks the tenant as deleted, ends its keys, and deletes its signing secrets, login links and sessions. */
  closeTenant(tenantId: string, at: number): Promise<void>
  insertApiKey(key: ApiKeyRecord): Promise<void>
  /** Ends at once every valid key of a type, whatever its name. Returns how many. */
  revokeEveryApiKey(tenantId: string, type: Environment, revokedAt: number): Promise<number>
  /**
   * Ends the valid keys of a type and a name (null for the first key and its successors): at once (`revokedAt`), or at the end of a
   * grace period (`validUntil`). Returns how many.
   */
  endApiKeys(
    tenantId: string,
    type: Environment,
    name: string | null,
    end: { revokedAt: number } | { validUntil: number },
  ): Promise<number>
  /** Ends at once the valid keys of a type and a name whose end is set already. Returns how many. */
  endGraces(tenantId: string, type: Environment, name: string | null, revokedAt: number): Promise<number>
  insertSigningSecret(secret: SigningSecretRecord): Promise<void>
  setSigningSecretEnd(id: string, validUntil: number): Promise<void>
  /** All of the tenant's but the current one, whatever the time. */
  deleteEndedSigningSecrets(tenantId: string): Promise<void>
  insertSubject(subject: SubjectRecord): Promise<void>
  /** The verdict by which the user agrees to another reference; null when it is used. */
  setReplaceVerdict(subjectId: string, verdict: { id: string; at: number } | null): Promise<void>
  /** Writes when a user of the sandbox was last used, unless that stands at a time after `unlessSince` already. */
  noteSandboxUse(use: {
    blindIndex: Buffer
    tenantId: string
    at: number
    unlessSince: number
  }): Promise<void>
  setLockout(
    subjectId: string,
    state: Pick<SubjectRecord, 'failures' | 'lockedUntil' | 'disabledAt'>,
  ): Promise<void>
  /** Replaces the subject's reference where it has one. */
  putReference(reference: ReferenceRecord): Promise<void>
  insertCapture(capture: CaptureRecord): Promise<void>
  insertChallenge(challenge: ChallengeRecord): Promise<void>
  /** Resolves with whether it was unused till now. */
  useChallenge(id: string, at: number): Promise<boolean>
  /** In the place of one of the same id. */
  putCaptureSession(session: CaptureSessionRecord): Promise<void>
  /** In the place of the one before. */
  putCaptureLogo(logo: CaptureLogoRecord): Promise<void>
  deleteCaptureLogo(tenantId: string): Promise<void>
  /** Leaves a text that is there already as it is. */
  keepConsentText(text: ConsentTextRecord): Promise<void>
  /** Where there is one in force, the transaction fails with AlreadyExecutedError, if not here then at its end. */
  insertIdempotencyRecord(record: IdempotencyRecord): Promise<void>
  /** Deletes the subject with its key, reference, captures, kept responses and what webhooks had to tell of it; says how many of the first ones. */
  eraseSubject(
    blindIndex: Buffer,
  ): Promise<Pick<ErasureRecord, 'references' | 'captures' | 'idempotencyRecords'>>
  putErasure(erasure: ErasureRecord): Promise<void>
  appendAudit(record: AuditRecord): Promise<void>
  putAuditSeal(seal: AuditSealRecord): Promise<void>
  putAuditWalk(walk: AuditWalkRecord): Promise<void>
  /**
   * Appends what follows the last entry of a tenant's log, and seals it.
   * @param follow called once, with the entry that is the last at that moment (undefined for an empty log); returns one entry or more
   * @param asked the answer of `auditEnd`, where it was asked for before in the transaction
   */
  extendAudit(
    tenantId: string,
    follow: (head: AuditRecord | undefined) => { records: AuditRecord[]; seal: AuditSealRecord },
    asked?: Promise<AuditEnd>,
  ): Promise<void>
  putKeyring(keyring: KeyringRecord): Promise<void>
  deleteKeyring(masterKeyId: string): Promise<void>
  /** Sealed anew; what stood there is overwritten, in the write-ahead log too. */
  putSealed(kind: SealedKind, row: SealedRow): Promise<void>
  setLastBackup(at: number): Promise<void>
  insertLoginLink(link: LoginLinkRecord): Promise<void>
  /** Uses the link up; undefined when it is unknown, used or expired. */
  takeLoginLink(hash: Buffer, now: number): Promise<LoginLinkRecord | undefined>
  /** In the place of one of the same id. */
  putSecondFactor(factor: SecondFactorRecord): Promise<void>
  deleteSecondFactor(id: string): Promise<void>
  /** Expired ones go at the same time. */
  insertPersonLink(link: PersonLinkRecord, now: number): Promise<void>
  /** Uses the link up; undefined when it is unknown, used or expired. */
  takePersonLink(hash: Buffer, now: number): Promise<PersonLinkRecord | undefined>
  insertDashboardSession(session: SessionRecord): Promise<void>
  /** In the place of one of the same id. */
  putPerson(person: PersonRecord): Promise<void>
  setLastSignIn(personId: string, at: number, by: SignInMethod): Promise<void>
  /** With the person's sessions, links and second factor. */
  deletePerson(id: string): Promise<void>
  /**
   * @param personId null for the operator without a name @param but hash of a session of a person that stays
   * @returns how many were deleted
   */
  deletePersonSessions(personId: string | null, but?: Buffer): Promise<number>
  /** With those of the tenant's people. @returns how many sessions and unused links there were */
  deleteTenantSignIns(tenantId: string): Promise<{ sessions: number; links: number }>
  /** @returns false where there was none */
  deleteDashboardSession(hash: Buffer): Promise<boolean>
  /** Says that a session is in use; one that has been deleted meanwhile stays so. */
  keepDashboardSession(hash: Buffer, times: Pick<SessionRecord, 'expiresAt' | 'lastUsedAt'>): Promise<void>
  setSessionAuthenticated(hash: Buffer, at: number): Promise<void>
  /** Replaces what stands there. */
  putTraffic(traffic: TrafficRecord): Promise<void>
  /**
   * Deletes what its window has closed on: kept responses, captures, challenges, capture sessions, erasure receipts, ended signing secrets, login links,
   * sessions, deliveries of webhooks and counted traffic. No more at once than others can wait for.
   * @returns whether there may be more of it
   */
  deleteExpired(
    now: number,
    capturesBefore: number,
    trafficBefore: Record<TrafficResolution, number>,
  ): Promise<boolean>
}

export interface CommitReport {
  /** From the write lock to the disk. */
  durationMs: number
  /** How many transactions shared it. */
  transactions: number
}

/** Whatever a transaction reads to decide by, and writes. */
export interface Scope {
  /** Nothing of another tenant, and nothing that is of all. */
  tenantId: string
  /**
   * A name for that part of it, beside the audit log of the tenant, which it may extend: it may run side by side with work that
   * concerns another part, and be called again when that has failed. Without it, it runs alone among what is the tenant's.
   */
  serializationKey?: string | undefined
}

/** What a store has beside, that several services have in common. */
export interface SharedStore {
  /** Counts the changes of the keyrings. */
  keysRevision(): Promise<number>
  /**
   * From now on refuses to write anything at another revision: what an older key seals could be opened by nobody later.
   * @param onStale told of a transaction that was refused
   */
  requireKeys(revision: number, onStale: () => void): void
  readonly epochs: EpochBook
  /** From now on refuses to write anything once an epoch after this one is the oldest under which data keys may be wrapped. */
  requireEpoch(number: number): void
  /** The hash of the password of the operator without a name. */
  operatorPassword(): Promise<string | null>
  /** @returns false where there is one already, which stays unless it is to be replaced */
  keepOperatorPassword(hash: string, options?: { replace?: boolean }): Promise<boolean>
}

export interface Store {
  /** Of a database that several services can serve from; null for one that is a single service's. */
  readonly coordinator: Coordinator | null
  /** Of such a database too, for commands as well. */
  readonly shared: SharedStore | null
  /** Null for commands. */
  readonly presence: Presence | null
  /** Services that work on the database now, the oldest first. */
  services(): Promise<ServiceNode[]>
  /** The schema that this version's code works with. */
  readonly schema: number
  /** Whether `backup` is how it is backed up, and not the database's own tools. */
  readonly makesBackups: boolean
  /** Sees committed state only. */
  readonly read: StoreReader
  /**
   * Runs `work` alone and resolves once its effect is on disk; when it rejects, nothing of it happened.
   * `work` may await nothing but `tx`: the write lock is held meanwhile.
   * @param deadlineMs on `performance.now()`'s axis: how long to wait for a lock that another process holds; some seconds by default
   * @param scope beside work of another scope it may run side by side. Without it, the work runs alone
   * @throws StoreUnavailableError
   */
  transaction<T>(work: (tx: StoreTransaction) => Promise<T>, deadlineMs?: number, scope?: Scope): Promise<T>
  /** Whether the store can be read and, as far as the last attempt tells, written; after a failed one it tries again. */
  isHealthy(): Promise<boolean>
  /** The database has said of itself that it is damaged: until the next start for SQLite, for ten minutes for PostgreSQL. */
  readonly isCorrupt: boolean
  /** Writes to the disk what stands there already. @throws StoreUnavailableError that says why it cannot */
  assertWritable(deadlineMs?: number): Promise<void>
  /**
   * A consistent copy while serving, and apart from it the data keys of all users as of now, which replace those in
   * `keysFile`: whoever keeps copies for long and one file of keys loses what is erased in every copy. Keys from before a change
   * of the working keys are moved aside to `keptKeysFile`; null where there were none.
   * @throws BackupUnsupportedError where the database has tools of its own for it
   */
  backup(
    file: string,
    keysFile: string,
    onProgress?: (pages: number, totalPages: number) => void,
  ): Promise<{ subjects: number; keptKeysFile: string | null }>
  /** Tells `observer` of every commit; a later call replaces the observer. */
  observeCommits(observer: (report: CommitReport) => void): void
  /** Whether it has kept anybody waiting for longer than a second since then, on the axis of `performance.now()`. */
  hasBeenSilentSince(sinceMs: number): boolean
  /** Bytes on disk: the database, and the write-ahead log that is its own; null where it has none of its own. */
  size(): { database: number; log: number | null }
  /** Full integrity check; resolves with what is wrong. */
  check(): Promise<string[]>
  close(): Promise<void>
}

/** The database cannot be used as it is: another application's, a newer version's, damaged, or out of reach. */
export class StoreOpenError extends CodedError<'database_unusable'> {
  override readonly name = 'StoreOpenError'
  /** True where trying again later may succeed without anybody's help: the server is out of reach, or is starting. */
  readonly isPassing: boolean
  constructor(message: string, options: { cause?: unknown; isPassing?: boolean } = {}) {
    super('database_unusable', message, options)
    this.isPassing = options.isPassing ?? false
  }
}

/** The database was made by an earlier version, and what opens it may not change its schema. */
export class SchemaOutdatedError extends CodedError<'schema_outdated'> {
  override readonly name = 'SchemaOutdatedError'
  /** @param database its name for messages */
  constructor(database: string, found: number, own: number) {
    super(
      'schema_outdated',
      `${database} has schema ${found}, made by an earlier Countersign; the schema of this one is ${own}. Only \`countersign serve\` and \`countersign migrate\` change a schema: until one of them has, use the commands of the version that serves it.`,
    )
  }
}

/** What the database's own tools are for. */
export class BackupUnsupportedError extends CodedError<'backup_unsupported'> {
  override readonly name = 'BackupUnsupportedError'
  constructor() {
    super(
      'backup_unsupported',
      'A PostgreSQL database is backed up and restored by its own tools, pg_dump or pg_basebackup: see docs/postgresql.md, also for what an erasure means for such backups.',
    )
  }
}

/** The database cannot serve now (locked, disk full, read-only); retrying later may work. */
export class StoreUnavailableError extends CodedError<'store_unavailable'> {
  override readonly name: string = 'StoreUnavailableError'
  constructor(message: string, options?: { cause?: unknown }) {
    super('store_unavailable', message, options)
  }
}

/** The database is damaged: trying again does not help, and the runbook says what does. */
export class StoreCorruptError extends StoreUnavailableError {
  override readonly name = 'StoreCorruptError'
  constructor(message: string, options?: { cause?: unknown }) {
    super(
      `${message}: the database is damaged; docs/operations/runbooks.md#database_corrupt says what to do`,
      options,
    )
  }
}

/** The same reader; `onError` gets every failure and gives the error to throw instead. */
export function readerWhoseErrors(onError: (error: unknown) => unknown, reader: StoreReader): StoreReader {
  const methods = Object.entries(reader) as Array<[string, (...args: unknown[]) => Promise<unknown>]>
  return Object.fromEntries(
    methods.map(([name, method]) => [
      name,
      (...args: unknown[]) =>
        method(...args).catch((error) => {
          throw onError(error)
        }),
    ]),
  ) as unknown as StoreReader
}

/** Another service has executed the request with this idempotency key, and was first. */
export class AlreadyExecutedError extends CodedError<'already_executed'> {
  override readonly name = 'AlreadyExecutedError'
  constructor() {
    super('already_executed', 'There is a kept response for this idempotency key.')
  }
}
