/** Passkeys of the service in memory: registers, lists and revokes them, and takes scripted answers. It checks no signature of WebAuthn. */
import { canonicalJson } from '../../../src/contract/canonical-json.js'
import {
  SANDBOX_AAGUID,
  scriptedRegistration,
  scriptedSignature,
} from '../../../src/contract/sandbox-passkeys.js'
import type {
  Passkey,
  PasskeyAuthenticationResponse,
  PasskeyCreationOptions,
  PasskeyRegistrationResponse,
  PasskeyRequestOptions,
} from '../types.js'
import { CEREMONY_MS, FakeCeremonies, type Usable, usingUp } from './ceremonies.js'
import { creationOptions, requestOptions } from './passkey-options.js'
import { FakePermits, isOfType, type Possession, strongerOf } from './permits.js'
import { FakeRefusal } from './refusals.js'
import { type Call, refuseBusy, refuseRequest } from './requests.js'
import { type FakeAnswer, fakeId } from './signatures.js'
import type { TestClock } from './test-clock.js'

/** How the tenant of a `FakeCountersign` uses passkeys: the settings that an operator makes with `countersign tenant passkeys`. */
export interface FakePasskeySettings {
  /** Domain of the passkeys; default `bank.example`. */
  rpId?: string
  /** Whether a passkey that its provider copies to other devices counts as `swk`, the default, or is refused. */
  synced?: 'swk' | 'refused'
  /** Whether the operator has named authorities that attest authenticators: `device_bound` passkeys then count as `hwk`. Default false. */
  attestation?: boolean
  /** Whether a registration needs a fresh approved verification with a check of liveness, the default, or only the API key. */
  registration?: 'verified' | 'backend'
}

/** How long the recovery of a passkey waits, as in the sandbox, and for how long it can be used then. */
const RECOVERY_WAIT_MS = 60_000
const RECOVERY_USABLE_MS = 7 * 86_400_000

/** The passkey that has signed for a verification. */
export interface ProvenFakePasskey {
  passkey_id: string
  amr: 'hwk' | 'swk'
  /** Notes the use, with the verdict. */
  use(): void
}

interface Kept {
  passkey: Passkey
  credentialId: string
}

const MAX_PASSKEYS = 10

export class FakePasskeys {
  /** Verdicts that allow a registration. */
  readonly permits = new FakePermits()
  private readonly kept = new Map<string, Kept[]>()
  /** Strongest passkey that was revoked, by user. */
  private readonly revoked = new Map<string, Possession>()
  /** Recoveries that wait, by user. */
  private readonly recoveries = new Map<string, { verificationId: string; readyMs: number }>()
  private readonly ceremonies = new FakeCeremonies()

  /** @param settings undefined for a tenant that uses no passkeys @param isEnrolled whether a user has a reference */
  constructor(
    private readonly settings: FakePasskeySettings | undefined,
    private readonly clock: TestClock,
    private readonly isEnrolled: (userId: string) => boolean,
  ) {}

  /** Answers the calls under `/users/{user_id}/passkeys`. */
  answer({ userId, rest }: { userId: string; rest: string }, call: Call): Promise<FakeAnswer> | FakeAnswer {
    refuseBusy(userId, call)
    switch (`${call.method} ${rest}`) {
      case 'POST /registration':
        return this.beginRegistration(userId, call)
      case 'POST ':
        return this.register(userId, call)
      case 'POST /assertion':
        return this.beginAssertion(userId, call)
      case 'GET ':
        this.assertEnrolled(userId, call)
        return {
          status: 200,
          body: { user_id: userId, data: this.of(userId), has_more: false, next_cursor: null },
        }
      case 'DELETE /recovery':
        return this.cancelRecovery(userId, call)
      default:
        return this.revoke(userId, rest.slice(1), call)
    }
  }

  /** The passkeys of a user, oldest first. */
  of(userId: string): Passkey[] {
    return (this.kept.get(userId) ?? []).map(({ passkey }) => passkey)
  }

  forget(userId: string): void {
    this.kept.delete(userId)
    this.revoked.delete(userId)
    this.recoveries.delete(userId)
    this.permits.forget(userId)
  }

  /** Keeps an approval of an enrolled user for what it allows or ends. */
  noteApproval(
    verificationId: string,
    userId: string,
    action: unknown,
    { possession, isLive }: { possession: Possession; isLive: boolean },
  ): void {
    const nowMs = this.clock.now()
    for (const type of ['register_passkey', 'replace_reference'] as const)
      if (isOfType(action, type) && (type === 'replace_reference' || isLive || this.needsNoVerdict()))
        this.permits.grant(verificationId, { type, userId, possession }, nowMs)
    const strongest = this.strongestOf(userId)
    if (!this.settings || strongest === null) return
    if (isLive && isOfType(action, 'recover_passkey'))
      this.recoveries.set(userId, { verificationId, readyMs: nowMs + RECOVERY_WAIT_MS })
    else if (possession && strongerOf(possession, strongest) === possession) this.recoveries.delete(userId)
  }

  /** A user who has a passkey agrees to another reference by a verification. @throws FakeRefusal replace_verdict_required */
  assertReplaceable({ body: { user_id, verification_id }, requestId }: Call): void {
    if (this.strongestOf(user_id) === null) return
    if (!this.permits.find('replace_reference', user_id, verification_id, this.clock.now()))
      throw new FakeRefusal('replace_verdict_required', requestId)
  }

  /**
   * The field `passkey` of a challenge: options for the browser.
   * @returns undefined where the request asks for none; null for a user without passkeys, where one was preferred
   */
  async optionsFor(
    call: Call,
    nonce: string,
    timeoutMs: number,
  ): Promise<PasskeyRequestOptions | PasskeyCreationOptions | null | undefined> {
    const { user_id, passkey: use, action } = call.body
    if (use === undefined) return undefined
    const asked = this.asked(user_id, nonce, timeoutMs)
    if (use === 'register') return creationOptions(asked, user_id, user_id)
    return asked.known.length === 0 ? null : requestOptions(asked, canonicalJson(action))
  }

  /** Refuses a capture whose passkey cannot be used. @throws FakeRefusal */
  assertUsable(call: Call): void {
    const { user_id, purpose = 'verify', passkey: use } = call.body
    if (use === undefined) return
    if ((use === 'register') !== (purpose === 'enroll'))
      refuseRequest(call, 'passkey', `is not for the purpose "${purpose}"`)
    this.assertUsed(call)
    const count = this.of(user_id).length
    if (use === 'register') this.assertFirst(user_id, call)
    if (use === 'required' && count === 0) throw new FakeRefusal('passkey_not_found', call.requestId)
  }

  /**
   * Opens the assertion of a verification.
   * @returns null for a request without one; its challenge, or null where it is that of the frames
   * @throws FakeRefusal passkey_required, passkeys_unavailable, invalid_request, and those of a challenge
   */
  openAssertion(call: Call): { challenge: Usable | null } | null {
    const { passkey_assertion: given, require_passkey: isRequired, challenge, user_id, action } = call.body
    if (!given) {
      if (isRequired) throw new FakeRefusal('passkey_required', call.requestId)
      return null
    }
    this.assertUsed(call)
    if (challenge) {
      if (given.challenge_id !== undefined || given.nonce !== undefined)
        refuseRequest(
          call,
          'passkey_assertion',
          'with `challenge`, its own id and nonce count: leave these out',
        )
      return { challenge: null }
    }
    if (given.challenge_id === undefined || given.nonce === undefined)
      refuseRequest(call, 'passkey_assertion', 'needs the `challenge_id` and `nonce` of its options')
    return { challenge: this.open(call, given, ['assertion', user_id, canonicalJson(action)]) }
  }

  /** @throws FakeRefusal passkey_not_found, and the code that the answer asks for */
  prove({ body, requestId }: Call): ProvenFakePasskey {
    const credential: PasskeyAuthenticationResponse = body.passkey_assertion.credential
    const found = (this.kept.get(body.user_id) ?? []).find(
      ({ credentialId }) => credentialId === credential.id,
    )
    if (!found) throw new FakeRefusal('passkey_not_found', requestId)
    const { passkey } = found
    const amr = this.valueOf(passkey.synced, requestId)
    // Every kept passkey is a scripted one.
    const outcome = scriptedSignature(credential) ?? 'passkey_invalid'
    if (outcome !== 'accepted') throw new FakeRefusal(outcome, requestId)
    const use = () => {
      passkey.last_used_at = this.time(this.clock.now())
    }
    return { passkey_id: passkey.passkey_id, amr, use }
  }

  /** Checks the passkey of an enrollment. @returns what stores it together with the reference @throws FakeRefusal */
  registrationOf(call: Call): (() => Passkey) | null {
    const { passkey_registration: given, user_id } = call.body
    if (!given) return null
    this.assertUsed(call)
    const made = this.made(given, call)
    return () => this.store(user_id, made, call)
  }

  /** @throws FakeRefusal invalid_request */
  assertRegistrable(call: Call): void {
    const { passkey_registration: given, challenge, add } = call.body
    if (given && (!challenge || add))
      refuseRequest(call, 'passkey_registration', 'belongs to `challenge`, without `add`')
  }

  private async beginRegistration(userId: string, call: Call): Promise<FakeAnswer> {
    this.assertUsed(call)
    const { user_name = userId, verification_id } = call.body ?? {}
    this.assertEnrolled(userId, call)
    this.permitOf(userId, verification_id, call)
    if (this.of(userId).length >= MAX_PASSKEYS) throw new FakeRefusal('passkey_limit_reached', call.requestId)
    const issued = this.ceremonies.issue(['registration', userId, verification_id ?? null], this.clock.now())
    const asked = this.asked(userId, issued.nonce, CEREMONY_MS)
    return this.begun(issued, await creationOptions(asked, userId, user_name))
  }

  private register(userId: string, call: Call): Promise<FakeAnswer> {
    this.assertUsed(call)
    const { verification_id } = call.body
    const opened = this.open(call, call.body, ['registration', userId, verification_id ?? null])
    return usingUp([opened], () => {
      const made = this.made(call.body, call)
      this.assertEnrolled(userId, call)
      const permit = this.permitOf(userId, verification_id, call)
      const passkey = this.store(userId, made, call)
      if (permit === 'verdict') this.permits.use(verification_id)
      if (permit === 'recovery') {
        this.recoveries.delete(userId)
        this.revoked.delete(userId)
      }
      return { status: 201, body: { user_id: userId, ...passkey } }
    })
  }

  private async beginAssertion(userId: string, call: Call): Promise<FakeAnswer> {
    this.assertUsed(call)
    this.assertEnrolled(userId, call)
    if (this.of(userId).length === 0) throw new FakeRefusal('passkey_not_found', call.requestId)
    const action = canonicalJson(call.body.action)
    const issued = this.ceremonies.issue(['assertion', userId, action], this.clock.now())
    const asked = this.asked(userId, issued.nonce, CEREMONY_MS)
    return this.begun(issued, await requestOptions(asked, action))
  }

  private revoke(userId: string, passkeyId: string, call: Call): FakeAnswer {
    this.assertEnrolled(userId, call)
    const before = this.kept.get(userId) ?? []
    const left = before.filter(({ passkey }) => passkey.passkey_id !== passkeyId)
    if (left.length === before.length) throw new FakeRefusal('passkey_not_found', call.requestId)
    this.revoked.set(userId, this.strongestOf(userId))
    this.kept.set(userId, left)
    return { status: 200, body: { user_id: userId, passkey_id: passkeyId, status: 'revoked' } }
  }

  /** @throws FakeRefusal with the code that the answer asks for */
  private made(
    { credential, name = null }: { credential: PasskeyRegistrationResponse; name?: string | null },
    { requestId }: Call,
  ): Kept {
    const outcome = scriptedRegistration(credential) ?? 'passkey_invalid'
    if (outcome !== 'device_bound' && outcome !== 'synced') throw new FakeRefusal(outcome, requestId)
    const synced = outcome === 'synced'
    this.valueOf(synced, requestId)
    const passkey: Passkey = {
      passkey_id: fakeId('pky'),
      name,
      synced,
      backed_up: synced,
      aaguid: SANDBOX_AAGUID,
      transports: ['internal'],
      created_at: this.time(this.clock.now()),
      last_used_at: null,
    }
    return { passkey, credentialId: credential.id }
  }

  private store(userId: string, made: Kept, { requestId }: Call): Passkey {
    const own = this.kept.get(userId) ?? []
    if (own.length >= MAX_PASSKEYS) throw new FakeRefusal('passkey_limit_reached', requestId)
    for (const others of this.kept.values())
      if (others.some(({ credentialId }) => credentialId === made.credentialId))
        throw new FakeRefusal('passkey_already_registered', requestId)
    this.kept.set(userId, [...own, made])
    return made.passkey
  }

  private open(call: Call, given: { challenge_id: string; nonce: string }, binding: unknown[]): Usable {
    return this.ceremonies.open(call, given, binding, this.clock.now())
  }

  private begun(
    { challenge_id, nonce, expiresMs }: ReturnType<FakeCeremonies['issue']>,
    options: object,
  ): FakeAnswer {
    return { status: 201, body: { challenge_id, nonce, options, expires_at: this.time(expiresMs) } }
  }

  private asked(userId: string, nonce: string, timeout: number) {
    return { rpId: this.settings?.rpId ?? 'bank.example', known: this.descriptors(userId), nonce, timeout }
  }

  private descriptors(userId: string) {
    return (this.kept.get(userId) ?? []).map(({ passkey, credentialId }) => ({
      type: 'public-key' as const,
      id: credentialId,
      transports: passkey.transports,
    }))
  }

  private valueOf(isSynced: boolean, requestId: string): 'hwk' | 'swk' {
    const { synced = 'swk' } = this.settings ?? {}
    if (isSynced && synced === 'refused') throw new FakeRefusal('passkey_not_allowed', requestId)
    return this.strengthOf(isSynced)
  }

  private strengthOf(isSynced: boolean): 'hwk' | 'swk' {
    return !isSynced && this.settings?.attestation ? 'hwk' : 'swk'
  }

  private assertUsed({ requestId }: Call): void {
    if (!this.settings) throw new FakeRefusal('passkeys_unavailable', requestId)
  }

  private cancelRecovery(userId: string, call: Call): FakeAnswer {
    this.assertEnrolled(userId, call)
    if (!this.recoveries.delete(userId)) throw new FakeRefusal('passkey_recovery_not_found', call.requestId)
    return { status: 200, body: { user_id: userId, status: 'cancelled' } }
  }

  private needsNoVerdict(): boolean {
    return this.settings?.registration === 'backend'
  }

  /** @throws FakeRefusal passkey_verdict_required, passkey_proof_required, passkey_recovery_pending */
  private permitOf(
    userId: string,
    verificationId: string | undefined,
    { requestId }: Call,
  ): 'verdict' | 'recovery' | null {
    const nowMs = this.clock.now()
    const recovery = this.recoveries.get(userId)
    if (recovery && recovery.verificationId === verificationId) {
      if (nowMs < recovery.readyMs) throw new FakeRefusal('passkey_recovery_pending', requestId)
      if (nowMs >= recovery.readyMs + RECOVERY_USABLE_MS)
        throw new FakeRefusal('passkey_verdict_required', requestId)
      return 'recovery'
    }
    const permit = this.permits.find('register_passkey', userId, verificationId, nowMs)
    if (!this.needsNoVerdict() && !permit) throw new FakeRefusal('passkey_verdict_required', requestId)
    const needed = this.strongestOf(userId)
    const proven = permit?.possession ?? null
    if (needed !== null && strongerOf(proven, needed) !== proven)
      throw new FakeRefusal('passkey_proof_required', requestId)
    return permit ? 'verdict' : null
  }

  /** @throws FakeRefusal passkey_proof_required for a user who has, or had, a passkey */
  private assertFirst(userId: string, { requestId }: Call): void {
    if (this.strongestOf(userId) !== null) throw new FakeRefusal('passkey_proof_required', requestId)
  }

  private strongestOf(userId: string): Possession {
    return (this.kept.get(userId) ?? []).reduce<Possession>(
      (strongest, kept) => strongerOf(strongest, this.strengthOf(kept.passkey.synced)),
      this.revoked.get(userId) ?? null,
    )
  }

  private assertEnrolled(userId: string, { requestId }: Call): void {
    if (!this.isEnrolled(userId)) throw new FakeRefusal('reference_not_found', requestId)
  }

  private time(ms: number): string {
    return new Date(ms).toISOString()
  }
}
