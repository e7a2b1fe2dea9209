/** Passkeys of the service in memory: registers, lists and revokes them, and takes scripted answers. It checks no signature of WebAuthn. */
import type { Possession } from '../../../src/contract/acr.js'
import { sha256 } from '../../../src/contract/action-hash.js'
import { canonicalJson } from '../../../src/contract/canonical-json.js'
import {
  SANDBOX_AAGUID,
  scriptedRegistration,
  scriptedSignature,
} from '../../../src/contract/sandbox-passkeys.js'
import type { Passkey, PasskeyRegistrationResponse } from '../types.js'
import { type FakeChallenges, type OpenedChallenge, usingUp } from './challenges.js'
import type { FakeInstallation } from './installation.js'
import { FakeRefusal, refuseRequest } from './refusals.js'
import type { Call } from './requests.js'
import { type FakeAnswer, fakeId } from './signatures.js'
import { isoTime } from './test-clock.js'
import { base64url } from './tokens.js'

/** The most that a user has. */
const MAX_PASSKEYS = 10
/** Time that a person has for a passkey. */
const CEREMONY_MS = 300_000
/** How long a verdict allows a registration or another reference. */
const PERMIT_MS = 600_000
/** How long the recovery of a passkey waits, as in the sandbox, and for how long it can be used then. */
const RECOVERY_WAIT_MS = 60_000
const RECOVERY_USABLE_MS = 7 * 86_400_000

/** Types of the actions whose approved verification allows something once. */
const PERMITS = ['register_passkey', 'replace_reference', 'recover_passkey'] as const

interface Permit {
  type: (typeof PERMITS)[number]
  userId: string
  /** Proof that a passkey gave in the verification. */
  possession: Possession | null
  fromMs: number
  untilMs: number
}

interface Kept {
  userId: string
  passkey: Passkey
  credentialId: string
  isRevoked: boolean
}

/** The passkey that has signed for a verification. */
export interface ProvenFakePasskey {
  passkey: Passkey
  amr: Possession
}

export class FakePasskeys {
  private kept: Kept[] = []
  /** Key: id of the verification. */
  private readonly permits = new Map<string, Permit>()

  constructor(
    private readonly service: FakeInstallation,
    private readonly challenges: FakeChallenges,
    /** @throws FakeRefusal reference_not_found */
    private readonly assertEnrolled: (userId: string) => void,
  ) {}

  /** The passkeys of a user, oldest first. */
  of(userId: string): Passkey[] {
    return this.ownOf(userId).map(({ passkey }) => passkey)
  }

  list(userId: string): FakeAnswer {
    this.assertEnrolled(userId)
    const body = { user_id: userId, data: this.of(userId), has_more: false, next_cursor: null }
    return { status: 200, body }
  }

  async beginRegistration(
    userId: string,
    { user_name = userId, verification_id }: Call['body'],
  ): Promise<FakeAnswer> {
    this.assertUsed()
    this.assertEnrolled(userId)
    this.assertRoom(userId)
    this.permitOf(userId, verification_id)
    const subject = ['registration', userId, verification_id ?? null]
    const issued = this.challenges.issue(subject, CEREMONY_MS)
    const options = await this.creationOptions(userId, user_name, issued.nonce, CEREMONY_MS)
    return { status: 201, body: { ...issued, options } }
  }

  register(userId: string, body: Call['body']): Promise<FakeAnswer> {
    this.assertUsed()
    const { verification_id } = body
    const opened = this.challenges.open(body, ['registration', userId, verification_id ?? null])
    return usingUp([opened], () => {
      const made = this.made(userId, body)
      this.assertEnrolled(userId)
      const permit = this.permitOf(userId, verification_id)
      const passkey = this.store(made)
      this.permits.delete(verification_id)
      if (permit?.type === 'recover_passkey') this.kept = this.kept.filter((one) => !isRevoked(one, userId))
      return { status: 201, body: { user_id: userId, ...passkey } }
    })
  }

  async beginAssertion(userId: string, { action }: Call['body']): Promise<FakeAnswer> {
    this.assertUsed()
    this.assertEnrolled(userId)
    if (this.of(userId).length === 0) throw new FakeRefusal('passkey_not_found')
    const issued = this.challenges.issue(['assertion', userId, action], CEREMONY_MS)
    const options = await this.requestOptions(userId, action, issued.nonce, CEREMONY_MS)
    return { status: 201, body: { ...issued, options } }
  }

  revoke(userId: string, passkeyId: string): FakeAnswer {
    this.assertEnrolled(userId)
    const found = this.ownOf(userId).find(({ passkey }) => passkey.passkey_id === passkeyId)
    if (!found) throw new FakeRefusal('passkey_not_found')
    found.isRevoked = true
    return { status: 200, body: { user_id: userId, passkey_id: passkeyId, status: 'revoked' } }
  }

  cancelRecovery(userId: string): FakeAnswer {
    this.assertEnrolled(userId)
    if (!this.endRecovery(userId)) throw new FakeRefusal('passkey_recovery_not_found')
    return { status: 200, body: { user_id: userId, status: 'cancelled' } }
  }

  forget(userId: string): void {
    this.kept = this.kept.filter((one) => one.userId !== userId)
    for (const [id, permit] of this.permits) if (permit.userId === userId) this.permits.delete(id)
  }

  /** Keeps an approval of an enrolled user for what it allows or ends. */
  noteApproval(
    verificationId: string,
    userId: string,
    action: Call['body'],
    { possession, isLive }: { possession: Possession | null; isLive: boolean },
  ): void {
    const nowMs = this.service.clock.now()
    const strongest = this.strongestOf(userId)
    const type = PERMITS.find((one) => one === action.type)
    const keep = (type: Permit['type'], fromMs: number, usableMs: number) =>
      this.permits.set(verificationId, { type, userId, possession, fromMs, untilMs: fromMs + usableMs })
    if (type === 'recover_passkey') {
      if (!isLive || strongest === null) return
      this.endRecovery(userId)
      keep(type, nowMs + RECOVERY_WAIT_MS, RECOVERY_USABLE_MS)
      return
    }
    if (type === 'replace_reference' || (type && (isLive || this.needsNoVerdict())))
      keep(type, nowMs, PERMIT_MS)
    if (possession && isAsStrong(possession, strongest)) this.endRecovery(userId)
  }

  /** A user who has a passkey agrees to another reference by a verification. @throws FakeRefusal replace_verdict_required */
  assertReplaceable({ user_id, verification_id }: Call['body']): void {
    const isAllowed = this.validPermit(user_id, verification_id)?.type === 'replace_reference'
    if (this.strongestOf(user_id) !== null && !isAllowed) throw new FakeRefusal('replace_verdict_required')
  }

  /** Uses a permit up. */
  usePermit(verificationId: string | undefined): void {
    this.permits.delete(verificationId ?? '')
  }

  /**
   * The field `passkey` of a challenge: options for the browser.
   * @returns undefined where the request asks for none; null for a user without passkeys, where one was preferred
   */
  async optionsFor({ user_id, passkey: use, action }: Call['body'], nonce: string, timeoutMs: number) {
    if (use === undefined) return undefined
    if (use === 'register') return this.creationOptions(user_id, user_id, nonce, timeoutMs)
    return this.of(user_id).length === 0 ? null : this.requestOptions(user_id, action, nonce, timeoutMs)
  }

  /** Refuses a capture whose passkey cannot be used. @throws FakeRefusal */
  assertUsable({ user_id, purpose = 'verify', passkey: use }: Call['body']): void {
    if (use === undefined) return
    if ((use === 'register') !== (purpose === 'enroll'))
      refuseRequest('passkey', `is not for the purpose "${purpose}"`)
    this.assertUsed()
    if (use === 'register' && this.strongestOf(user_id) !== null)
      throw new FakeRefusal('passkey_proof_required')
    if (use === 'required' && this.of(user_id).length === 0) throw new FakeRefusal('passkey_not_found')
  }

  /**
   * Opens the assertion of a verification.
   * @returns null for a request without one; its challenge, or null where it is that of the frames
   * @throws FakeRefusal passkey_required, passkeys_unavailable, invalid_request, and those of a challenge
   */
  openAssertion(body: Call['body']): { challenge: OpenedChallenge | null } | null {
    const { passkey_assertion: given, require_passkey: isRequired, challenge, user_id, action } = body
    if (!given) {
      if (isRequired) throw new FakeRefusal('passkey_required')
      return null
    }
    this.assertUsed()
    const field = 'passkey_assertion'
    const [hasEither, hasBoth] = [given.challenge_id ?? given.nonce, given.challenge_id && given.nonce]
    if (challenge && hasEither)
      refuseRequest(field, 'with `challenge`, its own id and nonce count: leave these out')
    if (!challenge && !hasBoth) refuseRequest(field, 'needs the `challenge_id` and `nonce` of its options')
    return { challenge: challenge ? null : this.challenges.open(given, ['assertion', user_id, action]) }
  }

  /** @throws FakeRefusal passkey_not_found, and the code that the answer asks for */
  prove({ user_id, passkey_assertion: { credential } }: Call['body']): ProvenFakePasskey {
    const found = this.ownOf(user_id).find(({ credentialId }) => credentialId === credential.id)
    if (!found) throw new FakeRefusal('passkey_not_found')
    const { passkey } = found
    this.assertAllowed(passkey.synced)
    // Every kept passkey is a scripted one.
    const outcome = scriptedSignature(credential) ?? 'passkey_invalid'
    if (outcome !== 'accepted') throw new FakeRefusal(outcome)
    return { passkey, amr: this.strengthOf(passkey.synced) }
  }

  /** Checks the passkey of an enrollment. @returns what stores it together with the reference @throws FakeRefusal */
  registrationOf({ passkey_registration: given, user_id }: Call['body']): (() => Passkey) | null {
    if (!given) return null
    this.assertUsed()
    const made = this.made(user_id, given)
    return () => this.store(made)
  }

  /** @throws FakeRefusal with the code that the answer asks for */
  private made(
    userId: string,
    { credential, name = null }: { credential: PasskeyRegistrationResponse; name?: string | null },
  ): Kept {
    const outcome = scriptedRegistration(credential) ?? 'passkey_invalid'
    if (outcome !== 'device_bound' && outcome !== 'synced') throw new FakeRefusal(outcome)
    const synced = outcome === 'synced'
    this.assertAllowed(synced)
    const passkey: Passkey = {
      passkey_id: fakeId('pky'),
      name,
      synced,
      backed_up: synced,
      aaguid: SANDBOX_AAGUID,
      transports: ['internal'],
      created_at: isoTime(this.service.clock.now()),
      last_used_at: null,
    }
    return { userId, passkey, credentialId: credential.id, isRevoked: false }
  }

  private store(made: Kept): Passkey {
    const isKnown = this.kept.some((one) => !one.isRevoked && one.credentialId === made.credentialId)
    if (isKnown) throw new FakeRefusal('passkey_already_registered')
    this.assertRoom(made.userId)
    this.kept.push(made)
    return made.passkey
  }

  /** @throws FakeRefusal passkey_limit_reached */
  private assertRoom(userId: string): void {
    if (this.ownOf(userId).length >= MAX_PASSKEYS) throw new FakeRefusal('passkey_limit_reached')
  }

  private async creationOptions(userId: string, userName: string, nonce: string, timeout: number) {
    const handle = base64url(await sha256(new TextEncoder().encode(userId)))
    return {
      challenge: await passkeyChallenge(nonce, ''),
      rp: { id: this.rpId, name: 'Fake' },
      user: { id: handle, name: userName, displayName: userName },
      pubKeyCredParams: [-8, -7, -257].map((alg) => ({ type: 'public-key', alg })),
      timeout,
      excludeCredentials: this.descriptors(userId),
      authenticatorSelection: {
        residentKey: 'preferred',
        requireResidentKey: false,
        userVerification: 'required',
      },
      attestation: 'none',
    }
  }

  private async requestOptions(userId: string, action: unknown, nonce: string, timeout: number) {
    const challenge = await passkeyChallenge(nonce, canonicalJson(action))
    const allowCredentials = this.descriptors(userId)
    return { challenge, rpId: this.rpId, timeout, allowCredentials, userVerification: 'required' }
  }

  private get rpId(): string {
    return this.service.passkeys?.rpId ?? 'bank.example'
  }

  private descriptors(userId: string) {
    return this.ownOf(userId).map(({ passkey: { transports }, credentialId: id }) => ({
      type: 'public-key' as const,
      id,
      transports,
    }))
  }

  private ownOf(userId: string): Kept[] {
    return this.kept.filter((one) => one.userId === userId && !one.isRevoked)
  }

  /** @throws FakeRefusal passkey_not_allowed */
  private assertAllowed(isSynced: boolean): void {
    if (isSynced && this.service.passkeys?.synced === 'refused') throw new FakeRefusal('passkey_not_allowed')
  }

  private strengthOf(isSynced: boolean): Possession {
    return !isSynced && this.service.passkeys?.attestation ? 'hwk' : 'swk'
  }

  private assertUsed(): void {
    if (!this.service.passkeys) throw new FakeRefusal('passkeys_unavailable')
  }

  private needsNoVerdict(): boolean {
    return this.service.passkeys?.registration === 'backend'
  }

  /**
   * @returns what allows the registration; undefined where it needs nothing
   * @throws FakeRefusal passkey_verdict_required, passkey_proof_required, passkey_recovery_pending
   */
  private permitOf(userId: string, verificationId: string | undefined): Permit | undefined {
    const permit = this.validPermit(userId, verificationId)
    if (permit?.type === 'recover_passkey') {
      if (this.service.clock.now() < permit.fromMs) throw new FakeRefusal('passkey_recovery_pending')
      return permit
    }
    const verdict = permit?.type === 'register_passkey' ? permit : undefined
    if (!verdict && !this.needsNoVerdict()) throw new FakeRefusal('passkey_verdict_required')
    if (!isAsStrong(verdict?.possession ?? null, this.strongestOf(userId)))
      throw new FakeRefusal('passkey_proof_required')
    return verdict
  }

  private validPermit(userId: string, verificationId: string | undefined): Permit | undefined {
    const permit = this.permits.get(verificationId ?? '')
    return permit?.userId === userId && this.service.clock.now() < permit.untilMs ? permit : undefined
  }

  /** @returns whether the user had one */
  private endRecovery(userId: string): boolean {
    const [id] =
      [...this.permits].find(([, one]) => one.userId === userId && one.type === 'recover_passkey') ?? []
    return id !== undefined && this.permits.delete(id)
  }

  /** The strongest proof that any of a user's passkeys gives, or gave before it was revoked; null for a user who had none. */
  private strongestOf(userId: string): Possession | null {
    const own = this.kept.filter((one) => one.userId === userId)
    const proofs = own.map(({ passkey }) => this.strengthOf(passkey.synced))
    return proofs.find((proof) => proof === 'hwk') ?? proofs[0] ?? null
  }
}

/** SHA-256(nonce ‖ SHA-256(action)), in base64url. @param action RFC 8785 canonical form; empty for a registration */
async function passkeyChallenge(nonce: string, action: string): Promise<string> {
  const actionHash = await sha256(new TextEncoder().encode(action))
  const random = Uint8Array.from(atob(nonce.replaceAll('-', '+').replaceAll('_', '/')), (one) =>
    one.charCodeAt(0),
  )
  return base64url(await sha256(new Uint8Array([...random, ...actionHash])))
}

function isRevoked(one: Kept, userId: string): boolean {
  return one.isRevoked && one.userId === userId
}

function isAsStrong(proof: Possession | null, needed: Possession | null): boolean {
  return needed === null || proof === 'hwk' || proof === needed
}
