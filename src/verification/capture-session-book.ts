/**
 * Sessions of the hosted capture page. What a session is for is sealed under a key that only those hold who have its link: the
 * database has that key under the link's secret alone, so that neither it nor a copy of it says who is to confirm what.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Mode } from '../biometrics/challenge/steps.js'
import type { CaptureLanguage } from '../config/capture-languages.js'
import type { LivenessRequirement } from '../config/liveness-requirement.js'
import { prefixedId } from '../crypto/identifiers.js'
import { open, seal } from '../crypto/sealed-box.js'
import type { Clock } from '../lib/clock.js'
import type { CaptureSessionRecord } from '../storage/records.js'
import type { StoreReader, StoreTransaction } from '../storage/store.js'
import { type CodeCheck, newCode } from './confirmation-code.js'

/** What a session is for. */
export interface CaptureRequest {
  userId: string
  /** Undefined for an enrolment. */
  action?: unknown
  /** Undefined for both. */
  modes?: Mode[] | undefined
  requireLiveness?: LivenessRequirement | undefined
  /** Of an enrolment. */
  replace?: boolean | undefined
  /** Id of the verdict by which the user agreed to a replacement; only for an enrolment that replaces. */
  verificationId?: string | undefined
  returnUrl: string
  locale?: CaptureLanguage | undefined
  /** What the person confirms, in words. */
  description?: string | undefined
  /** In the place of the tenant's. */
  consent?: { version: string; text: string } | undefined
}

/** Why a session ended without success, as far as the person is told. */
export type CaptureEnding = 'refused' | 'locked_out' | 'code'

interface Content {
  captureRequest: CaptureRequest
  /** The one that can be answered, and how many there were. */
  challenge: { id: string; nonce: string } | null
  challenges: number
  /** Ids of the challenges whose captures are being judged. Absent in sessions of earlier versions. */
  judging?: string[]
  /** Null where no code is asked for; absent in sessions of earlier versions. */
  code?: CodeCheck | null
  /** Absent before the end, after a success, and where the person went back. */
  ending?: CaptureEnding
}

/** On which device the link was opened: the first link's, or the phone's that the capture was handed to. */
export type CaptureSide = 'page' | 'phone'

export interface CaptureSession {
  record: CaptureSessionRecord
  content: Content
  dataKey: Buffer
  /** Of the link by which it was found. */
  side: CaptureSide
}

const SECRET_BYTES = 32
const TOKEN = /^(cap_[0-9a-f]{32})\.([A-Za-z0-9_-]{43})$/

export class CaptureSessionBook {
  constructor(
    private readonly clock: Clock,
    private readonly ttlMs: number,
  ) {}

  async issue(
    tx: StoreTransaction,
    caller: Pick<CaptureSessionRecord, 'tenantId' | 'environment' | 'keyId' | 'blindIndex' | 'purpose'>,
    captureRequest: CaptureRequest,
    { asksForCode }: { asksForCode: boolean },
  ): Promise<{ id: string; token: string; code: string | null; expiresAt: number }> {
    const now = this.clock.now()
    const id = prefixedId('cap', now)
    const dataKey = randomBytes(SECRET_BYTES)
    const { link, token } = newLink(id, dataKey)
    const { code, check } = asksForCode ? newCode() : { code: null, check: null }
    const content: Content = { captureRequest, challenge: null, challenges: 0, judging: [], code: check }
    const record: CaptureSessionRecord = {
      id,
      ...caller,
      sealed: sealContent(id, dataKey, content),
      link,
      browser: null,
      phoneLink: null,
      phoneBrowser: null,
      consentVersion: null,
      consentedAt: null,
      attempts: 0,
      answered: null,
      status: 'open',
      createdAt: now,
      expiresAt: now + this.ttlMs,
      expiryReportedAt: null,
    }
    await tx.putCaptureSession(record)
    return { id, token, code, expiresAt: record.expiresAt }
  }

  /** Null for a link that is none, or none any more. */
  async find(store: StoreReader, token: string): Promise<CaptureSession | null> {
    const [, id, secret] = TOKEN.exec(token) ?? []
    const record = id === undefined ? undefined : await store.captureSession(id)
    if (!record) return null
    for (const side of ['page', 'phone'] as const) {
      const dataKey = openLink(record, side, secret!)
      if (!dataKey) continue
      const content = openContent(record, dataKey)
      return { record, content, dataKey, side }
    }
    return null
  }

  /** Writes what was changed of it, in the transaction in which it was found. */
  async put(tx: StoreTransaction, { record, content, dataKey }: CaptureSession): Promise<void> {
    record.sealed = sealContent(record.id, dataKey, content)
    await tx.putCaptureSession(record)
  }

  hasExpired({ expiresAt }: Pick<CaptureSessionRecord, 'expiresAt'>): boolean {
    return expiresAt <= this.clock.now()
  }

  /** From now on this browser alone can use the link. @returns the secret by which it is known */
  bind({ record, side }: CaptureSession): string {
    const secret = randomBytes(SECRET_BYTES).toString('base64url')
    record[BROWSER_OF[side]] = digestOf(secret)
    return secret
  }

  /** Null before any browser opened the link. */
  isBoundTo({ record, side }: CaptureSession, secret: string | undefined): boolean | null {
    const bound = record[BROWSER_OF[side]]
    if (bound === null) return null
    return secret !== undefined && timingSafeEqual(bound, digestOf(secret))
  }

  /** A link for a phone, in the place of one that was made before. @returns its token */
  handOver(session: CaptureSession): string {
    const { link, token } = newLink(session.record.id, session.dataKey)
    Object.assign(session.record, { phoneLink: link, phoneBrowser: null })
    return token
  }
}

const LINK_OF = { page: 'link', phone: 'phoneLink' } as const
const BROWSER_OF = { page: 'browser', phone: 'phoneBrowser' } as const

function newLink(id: string, dataKey: Buffer): { link: Buffer; token: string } {
  const secret = randomBytes(SECRET_BYTES)
  return { link: seal(secret, dataKey, linkContext(id)), token: `${id}.${secret.toString('base64url')}` }
}

/** Whether the secret is the link's shows in whether it opens. */
function openLink(record: CaptureSessionRecord, side: CaptureSide, secret: string): Buffer | null {
  const link = record[LINK_OF[side]]
  if (!link) return null
  try {
    return open(Buffer.from(secret, 'base64url'), link, linkContext(record.id))
  } catch {
    return null
  }
}

function linkContext(id: string): string {
  return `link ${id}`
}

/** The JSON names the capture request `errand`: services of an earlier version may read the same session. */
function sealContent(id: string, dataKey: Buffer, { captureRequest, ...rest }: Content): Buffer {
  return seal(dataKey, Buffer.from(JSON.stringify({ errand: captureRequest, ...rest })), id)
}

function openContent({ id, sealed }: CaptureSessionRecord, dataKey: Buffer): Content {
  const { errand, ...rest } = JSON.parse(open(dataKey, sealed, id).toString())
  return { captureRequest: errand, ...rest }
}

function digestOf(secret: string): Buffer {
  return createHash('sha256').update(secret).digest()
}
