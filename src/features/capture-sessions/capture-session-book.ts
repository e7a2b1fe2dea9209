/**
 * Sessions of the hosted capture page. A session's content is sealed under a data key. The database holds that key only sealed under
 * the secret of the session's link, so that neither the database nor a copy of it says who is to confirm which action.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { LivenessRequirement } from '../../config/liveness-requirement.js'
import type { DisplayLocale } from '../../contract/locales.js'
import { prefixedId } from '../../crypto/identifiers.js'
import { open, seal } from '../../crypto/sealed-box.js'
import type { Clock } from '../../lib/clock.js'
import type { StoreReader, StoreTransaction } from '../../storage/store.js'
import type { Mode } from '../challenges/film/exports.js'
import type { ShownDisplay } from '../displayed-actions/exports.js'
import type { CaptureSessionResult } from './capture-session-events.js'
import { type CaptureSessionRecord, captureSessionReader, captureSessionWriter } from './capture-tables.js'
import { type CodeCheck, MAX_NUMBER_TRIES, newCode } from './confirmation-code.js'

/** The capture that a session asks a person for. */
interface CaptureRequest {
  userId: string
  /** Action that the person confirms; undefined for an enrollment. */
  action?: unknown
  /** Payments of an action of type `payment_batch`, which binds them: a list in canonical form. */
  payees?: string | undefined
  /** Movements of the head that the person can make; undefined for both. */
  modes?: Mode[] | undefined
  requireLiveness?: LivenessRequirement | undefined
  /** Use of a passkey next to the face; undefined for none. */
  passkey?: 'required' | 'preferred' | 'register' | undefined
  /** Whether an enrollment may replace the user's reference. */
  replace?: boolean | undefined
  /** Id of the verdict by which the user agreed to a replacement; only for an enrollment that replaces. */
  verificationId?: string | undefined
  returnUrl: string
  /** Whether the page must not show whether the user exists: see `Call.isDiscreet`. */
  isDiscreet?: boolean | undefined
  locale?: DisplayLocale | undefined
  /** The action in words, shown to the person. */
  description?: string | undefined
  /** Consent text instead of the tenant's own. */
  consent?: { version: string; text: string } | undefined
  /** Facts about the visitor who began; undefined where the page does not say where the session began. */
  began?: Began | undefined
  /** Whether the capture may not be handed over to a phone. */
  keepsDevice?: boolean | undefined
}

/** The visitor who began a session. */
export interface Began {
  ip?: string | undefined
  /** Browser and system in words. */
  browser?: string | undefined
}

/** Reason, shown to the person, why a session ended without success. */
export type CaptureEnding = 'refused' | 'locked_out' | 'code' | DerivedEnding

/** Endings that the rest of the session says: services of an earlier version, which may read it, know no name for them. */
type DerivedEnding = 'disowned' | 'number'

/** The person who has to act after a session whose own person has done everything that was asked. */
export type CaptureSuccessor = 'second_person'

interface Content {
  captureRequest: CaptureRequest
  /** The challenge that can be answered now, with the text that the page shows meanwhile; null where there is none. */
  challenge: { id: string; nonce: string; display?: ShownDisplay | undefined } | null
  /** Number of challenges that the session has had. */
  challenges: number
  /** Ids of the challenges whose captures are being judged. Absent in sessions of earlier versions. */
  judging?: string[]
  /** State of the confirmation code; null where none is asked for, absent in sessions of earlier versions. */
  code?: CodeCheck | null
  /** How the session ended; absent before the end, after a success, and where the person went back. */
  ending?: Exclude<CaptureEnding, DerivedEnding>
  /** The person who has to act now. This is no ending: services of an earlier version may read the same session, and know no other endings. */
  waitsFor?: CaptureSuccessor
  /** The proof that the first device carries back; absent before the end, and where the record has no digest. */
  proof?: string
  /** Device at which the person agreed to the text that the record names; absent before that. */
  agreedAt?: CaptureSide
  /**
   * The number that the phone shows after its capture. The session goes on only at the first device, where the person types it. Absent
   * before that, and where no phone has captured.
   */
  number?: CodeCheck & { value: string; result: CaptureSessionResult | null }
}

/** Device of a link: `page` for the first link, `phone` for the link that handed the capture over to a phone. */
export type CaptureSide = 'page' | 'phone'

export interface CaptureSession {
  record: CaptureSessionRecord
  content: Content
  dataKey: Buffer
  /** Device of the link by which the session was found. */
  side: CaptureSide
}

const SECRET_BYTES = 32
const TOKEN = /^(cap_[0-9a-f]{32})\.([A-Za-z0-9_-]{43})$/

export class CaptureSessionBook {
  constructor(
    private readonly clock: Clock,
    /** Milliseconds from issue to expiry. */
    private readonly ttlMs: number,
  ) {}

  /**
   * Opens a session.
   * @returns its id, the token of its link and the confirmation code, if any; the session's record holds neither
   */
  async issue(
    tx: StoreTransaction,
    caller: Pick<
      CaptureSessionRecord,
      'tenantId' | 'environment' | 'keyId' | 'blindIndex' | 'purpose' | 'binding'
    >,
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
      proof: null,
      disownedAt: null,
    }
    await tx.statements(captureSessionWriter).put(record)
    return { id, token, code, expiresAt: record.expiresAt }
  }

  /** Finds the session of a link. @returns null for a token that is not the link's of any session, or no longer is */
  async find(store: StoreReader, token: string): Promise<CaptureSession | null> {
    const [, id, secret] = TOKEN.exec(token) ?? []
    const record = id === undefined ? undefined : await store.statements(captureSessionReader).one(id)
    if (!record) return null
    for (const side of ['page', 'phone'] as const) {
      const dataKey = openLink(record, side, secret!)
      if (!dataKey) continue
      const content = openContent(record, dataKey)
      return { record, content, dataKey, side }
    }
    return null
  }

  /** Writes the changes to a session, in the transaction in which it was found. */
  async put(tx: StoreTransaction, { record, content, dataKey }: CaptureSession): Promise<void> {
    record.sealed = sealContent(record.id, dataKey, content)
    await tx.statements(captureSessionWriter).put(record)
  }

  hasExpired({ expiresAt }: Pick<CaptureSessionRecord, 'expiresAt'>): boolean {
    return expiresAt <= this.clock.now()
  }

  /** Binds the link to one browser: no other one can use it from now on. @returns the secret that identifies the browser */
  bind({ record, side }: CaptureSession): string {
    const secret = randomBytes(SECRET_BYTES).toString('base64url')
    record[BROWSER_OF[side]] = digestOf(secret)
    return secret
  }

  /** Whether the link is bound to the browser with this secret; null before any browser opened the link. */
  isBoundTo({ record, side }: CaptureSession, secret: string | undefined): boolean | null {
    const bound = record[BROWSER_OF[side]]
    if (bound === null) return null
    return secret !== undefined && timingSafeEqual(bound, digestOf(secret))
  }

  /** Makes the proof that the first device carries back, in an ended session whose result needs one. */
  prove({ record, content }: CaptureSession): void {
    content.proof = randomBytes(SECRET_BYTES).toString('base64url')
    record.proof = digestOf(content.proof)
  }

  /** Draws the number that the phone shows. @param result of the phone's capture, which is reported once the number was typed */
  drawNumber({ content }: CaptureSession, result: CaptureSessionResult | null): void {
    const { code: value, check } = newCode()
    content.number = { ...check, value, result }
  }

  /** Makes a link for a phone, which replaces an earlier one. @returns its token */
  handOver({ record, content, dataKey }: CaptureSession): string {
    const { link, token } = newLink(record.id, dataKey)
    Object.assign(record, { phoneLink: link, phoneBrowser: null })
    // Another phone may be another person's, who has agreed to nothing.
    if (content.agreedAt === 'phone') Object.assign(record, { consentVersion: null, consentedAt: null })
    return token
  }
}

/** Whether the person has agreed at the device of this link. The person in front of another camera has seen no text. */
export function hasAgreed({ record, content, side }: CaptureSession): boolean {
  return record.consentedAt !== null && (content.agreedAt ?? 'page') === side
}

/** Why a session ended without success; undefined where it did not. */
export function endingOf({ record, content }: CaptureSession): CaptureEnding | undefined {
  if (record.disownedAt !== null) return 'disowned'
  const { number } = content
  return number && !number.isConfirmed && number.tries >= MAX_NUMBER_TRIES ? 'number' : content.ending
}

const LINK_OF = { page: 'link', phone: 'phoneLink' } as const
const BROWSER_OF = { page: 'browser', phone: 'phoneBrowser' } as const

function newLink(id: string, dataKey: Buffer): { link: Buffer; token: string } {
  const secret = randomBytes(SECRET_BYTES)
  return { link: seal(secret, dataKey, linkContext(id)), token: `${id}.${secret.toString('base64url')}` }
}

/** Opens the data key with the secret of a link; null where the secret is another one. */
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

/** Whether this is the proof of the browser that captured. */
export function isProvenBy({ proof }: CaptureSessionRecord, given: string): boolean {
  return proof !== null && timingSafeEqual(proof, digestOf(given))
}

function digestOf(secret: string): Buffer {
  return createHash('sha256').update(secret).digest()
}
