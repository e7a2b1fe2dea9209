/** Rows for the tests of stores: complete, of the tenant `ten_a` and its user `sub_ada` unless told otherwise. */

import { accountWriter } from '../../src/admin/accounts/account-statements.js'
import type { LoginLinkRecord, PersonRecord, SessionRecord } from '../../src/admin/accounts/account-tables.js'
import type { CaptureSessionRecord } from '../../src/features/capture-sessions/capture-tables.js'
import type { ChallengeRecord } from '../../src/features/challenges/table/exports.js'
import { challengeWriter } from '../../src/features/challenges/table/exports.js'
import type { SigningKeyRecord } from '../../src/features/public-verdicts/signing-key-table.js'
import type {
  WebhookDeliveryRecord,
  WebhookEndpointRecord,
} from '../../src/features/webhooks/webhook-tables.js'
import { webhookWriter } from '../../src/features/webhooks/webhook-tables.js'
import type {
  AgedReferenceRecord,
  ApiKeyRecord,
  AuditRecord,
  CaptureRecord,
  ErasureRecord,
  FollowingReferenceRecord,
  IdempotencyRecord,
  ReferenceRecord,
  SigningSecretRecord,
  SubjectRecord,
  TenantRecord,
} from '../../src/storage/records.js'
import type { StoreReader, StoreTransaction } from '../../src/storage/store.js'

/** A time as the service writes them: more than 32 bits. */
export const AT = 1_790_000_000_000

export const bytes = (text: string) => Buffer.from(text)

/** The maker of a row that is complete, and differs from the usual one where a test says so. */
const row =
  <Row>(usual: (name: string) => Row) =>
  (name: string, changes: Partial<Row> = {}): Row => ({ ...usual(name), ...changes })
/** The same, for rows that most tests have one of. */
const named =
  <Row>(first: string, usual: (name: string) => Row) =>
  (name = first, changes: Partial<Row> = {}): Row => ({ ...usual(name), ...changes })

export const tenant = named<TenantRecord>('a', (name) => ({
  id: `ten_${name}`,
  name,
  createdAt: AT,
  ratePerSecond: 1,
  burst: 1,
  fmr: null,
  requireLiveness: null,
  replaceVerdictMinutes: null,
  capturePage: null,
  policyHash: null,
  sandboxPolicyHash: null,
  passkeys: null,
  models: null,
  driftSince: null,
  productionIssuedAt: null,
  productionRevealedAt: null,
  suspendedAt: null,
  deletedAt: null,
}))

export const apiKey = row<ApiKeyRecord>((id) => ({
  id,
  tenantId: 'ten_a',
  type: 'sandbox',
  hash: bytes(`hash of ${id}`),
  hint: 'abcd',
  name: null,
  scopes: null,
  networks: null,
  certificate: null,
  createdAt: AT,
  validUntil: null,
  revokedAt: null,
}))

export const signingSecret = row<SigningSecretRecord>((id) => ({
  id,
  tenantId: 'ten_a',
  sealed: bytes(`sealed ${id}`),
  createdAt: AT,
  validUntil: null,
}))

export const verdictKey = row<SigningKeyRecord>((id) => ({
  id,
  environment: 'production',
  sealed: bytes(`sealed ${id}`),
  publishedAt: AT,
  signsFrom: AT,
  goneAt: null,
}))

export const subject = named<SubjectRecord>('ada', (name) => ({
  id: `sub_${name}`,
  tenantId: 'ten_a',
  environment: 'production',
  blindIndex: bytes(name),
  wrappedKey: bytes(`wrapped key of ${name}`),
  createdAt: AT,
  failures: 0,
  lockedUntil: null,
  disabledAt: null,
  replaceVerdict: null,
  replaceVerdictAt: null,
  passkeyRecovery: null,
  passkeyRecoveryAt: null,
  revokedPasskey: null,
}))

export const reference = named<ReferenceRecord>('ada', (name) => ({
  id: `ref_${name}`,
  subjectId: `sub_${name}`,
  model: 'm@1',
  sealed: bytes(`sealed reference of ${name}`),
  createdAt: AT,
}))

export const followingReference = named<FollowingReferenceRecord>('ada', (name) => ({
  id: `fol_${name}`,
  referenceId: `ref_${name}`,
  model: 'm@2',
  sealed: bytes(`sealed template of ${name}`),
  createdAt: AT,
}))

export const agedReference = named<AgedReferenceRecord>('ada', (name) => ({
  id: `aged_${name}`,
  referenceId: `ref_${name}`,
  model: 'm@1',
  sealed: bytes(`sealed aged template of ${name}`),
  createdAt: AT,
}))

export const capture = row<CaptureRecord>((digest) => ({
  subjectId: 'sub_ada',
  digest: bytes(digest),
  sealed: bytes(`sealed ${digest}`),
  seenAt: AT,
}))

export const challenge = row<ChallengeRecord>((id) => ({
  id,
  tenantId: 'ten_a',
  environment: 'production',
  blindIndex: bytes('ada'),
  binding: bytes('binding'),
  steps: 'left right',
  display: null,
  createdAt: AT,
  expiresAt: AT + 10,
  usedAt: null,
}))

/** A stored response that is kept for ten milliseconds. */
export function keptResponse(scope: string, changes: Partial<IdempotencyRecord> = {}): IdempotencyRecord {
  const { createdAt = AT } = changes
  return {
    scope: bytes(scope),
    blindIndex: bytes('ada'),
    subjectId: 'sub_ada',
    payloadHash: bytes('hash'),
    status: 201,
    sealed: bytes(`sealed response of ${scope}`),
    createdAt,
    expiresAt: createdAt + 10,
    ...changes,
  }
}

export const erasure = named<ErasureRecord>('ada', (name) => ({
  blindIndex: bytes(name),
  erasureId: `era_${name}`,
  erasedAt: AT,
  references: 1,
  captures: 2,
  passkeys: 4,
  idempotencyRecords: 3,
  expiresAt: AT + 10,
}))

export function auditEntry(sequence: number, changes: Partial<AuditRecord> = {}): AuditRecord {
  return {
    tenantId: 'ten_a',
    sequence,
    entry: `{"n":${sequence}}`,
    hash: Buffer.alloc(32, sequence),
    ...changes,
  }
}

export const operator = row<PersonRecord>((name) => ({
  id: `op_${name}`,
  tenantId: null,
  origin: 'invited',
  name,
  role: 'admin',
  passwordHash: `hash of ${name}`,
  createdAt: AT,
  lastSignInAt: null,
  lastSignInBy: null,
}))

/** A tenant's. */
export const session = row<SessionRecord>((hash) => ({
  hash: bytes(hash),
  tenantId: 'ten_a',
  personId: null,
  expiresAt: AT + 10,
  endsAt: AT + 20,
  createdAt: AT,
  lastUsedAt: AT,
  authenticatedAt: AT,
  secondFactorAt: null,
  method: 'link',
  address: '192.0.2.1',
  browser: 'a browser',
}))

export const endpoint = row<WebhookEndpointRecord>((id) => ({
  id,
  tenantId: 'ten_a',
  environment: 'production',
  url: 'https://hooks.example/a',
  events: '',
  createdAt: AT,
  dropped: 0,
  lastSuccessAt: null,
  lastFailureAt: null,
  lastFailure: null,
  failures: 0,
}))

/** Due at once. */
export function delivery(
  id: string,
  endpointId: string,
  changes: Partial<WebhookDeliveryRecord> = {},
): WebhookDeliveryRecord {
  return {
    id,
    eventId: `event of ${id}`,
    endpointId,
    tenantId: 'ten_a',
    type: 'user.enrolled',
    blindIndex: null,
    subjectId: null,
    sealed: bytes(`sealed ${id}`),
    status: 'pending',
    attempts: 0,
    nextAttemptAt: AT,
    lastOutcome: null,
    takenBy: null,
    createdAt: AT,
    finishedAt: null,
    expiresAt: AT + 1000,
    ...changes,
  }
}

/** State of a delivery after its last attempt, which succeeded. */
export const DELIVERED = { status: 'delivered', nextAttemptAt: null, finishedAt: AT } as const

/** A user with a reference, a capture and a kept response. */
export async function insertUser(tx: StoreTransaction, name: string, at = AT): Promise<void> {
  await tx.insertSubject(subject(name, { createdAt: at }))
  await tx.putReference(reference(name, { createdAt: at }))
  await tx.insertCapture(
    capture(`capture of ${name}`, {
      subjectId: `sub_${name}`,
      sealed: bytes(`sealed capture of ${name}`),
      seenAt: at,
    }),
  )
  await tx.insertIdempotencyRecord(
    keptResponse(`scope of ${name}`, { blindIndex: bytes(name), subjectId: `sub_${name}`, createdAt: at }),
  )
}

/** Rows for a store. A name stands for the complete row of that name. */
export interface Rows {
  tenants?: Array<string | TenantRecord>
  users?: string[]
  subjects?: Array<string | SubjectRecord>
  references?: Array<string | ReferenceRecord>
  keys?: ApiKeyRecord[]
  secrets?: SigningSecretRecord[]
  captures?: CaptureRecord[]
  challenges?: ChallengeRecord[]
  responses?: IdempotencyRecord[]
  endpoints?: WebhookEndpointRecord[]
  deliveries?: WebhookDeliveryRecord[]
  entries?: AuditRecord[]
  following?: FollowingReferenceRecord[]
  erasures?: ErasureRecord[]
  people?: Array<string | PersonRecord>
  sessions?: SessionRecord[]
  links?: LoginLinkRecord[]
}

/** Inserts rows after those that they stand under, and each kind in its order. */
export async function insertRows(tx: StoreTransaction, rows: Rows): Promise<void> {
  const whole = <T>(row: string | T, make: (name: string) => T) => (typeof row === 'string' ? make(row) : row)
  for (const row of rows.tenants ?? []) await tx.insertTenant(whole(row, tenant))
  for (const name of rows.users ?? []) await insertUser(tx, name)
  for (const row of rows.subjects ?? []) await tx.insertSubject(whole(row, subject))
  for (const row of rows.references ?? []) await tx.putReference(whole(row, reference))
  for (const row of rows.keys ?? []) await tx.insertApiKey(row)
  for (const row of rows.secrets ?? []) await tx.insertSigningSecret(row)
  for (const row of rows.captures ?? []) await tx.insertCapture(row)
  for (const row of rows.challenges ?? []) await tx.statements(challengeWriter).insert(row)
  for (const row of rows.responses ?? []) await tx.insertIdempotencyRecord(row)
  for (const row of rows.endpoints ?? []) await tx.statements(webhookWriter).insertEndpoint(row)
  for (const row of rows.deliveries ?? []) await tx.statements(webhookWriter).insertDelivery(row)
  for (const row of rows.entries ?? []) await tx.appendAudit(row)
  for (const row of rows.following ?? []) await tx.putFollowingReference(row)
  for (const row of rows.erasures ?? []) await tx.putErasure(row)
  for (const row of rows.people ?? []) await tx.statements(accountWriter).putPerson(whole(row, operator))
  for (const row of rows.sessions ?? []) await tx.statements(accountWriter).insertDashboardSession(row)
  for (const row of rows.links ?? []) await tx.statements(accountWriter).insertLoginLink(row)
}

/** The captures after position `last` of a history. */
export async function capturesAfter(
  store: StoreReader,
  subjectId: string,
  last: number,
): Promise<CaptureRecord[]> {
  return (await store.standing(bytes(subjectId.replace('sub_', '')), last))?.captures ?? []
}

/** The captures of a history, newest first. */
export async function newestCaptures(
  store: StoreReader,
  subjectId: string,
  since: number,
  limit: number,
): Promise<CaptureRecord[]> {
  const { newest } = await store.captureHistory(subjectId, [], since, limit)
  const all = await capturesAfter(store, subjectId, 0)
  return newest.map((sealed) => all.find((one) => one.sealed.equals(sealed))!)
}

export async function hasCapture(
  store: StoreReader,
  subjectId: string,
  digest: Buffer,
  since: number,
): Promise<boolean> {
  return (await store.captureHistory(subjectId, [digest], since, 1)).hasDigest
}

export const captureSession = row<CaptureSessionRecord>((name) => ({
  id: `cap_${name}`,
  tenantId: 'ten_a',
  environment: 'production',
  keyId: 'key_a',
  blindIndex: bytes(name),
  purpose: 'verify',
  sealed: bytes('sealed'),
  link: bytes('link'),
  browser: null,
  phoneLink: null,
  phoneBrowser: null,
  consentVersion: null,
  consentedAt: null,
  attempts: 0,
  answered: null,
  binding: 'any',
  proof: null,
  status: 'open',
  createdAt: AT,
  expiresAt: AT + 1000,
  expiryReportedAt: null,
  disownedAt: null,
}))
