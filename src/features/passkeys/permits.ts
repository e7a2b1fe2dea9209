/** Keeps an approved verify for what it allows or ends: the registration of a passkey, and a recovery. */
import type { AuditFacts } from '../../api/endpoint.js'
import { isOfType, RECOVER_ACTION, REGISTER_ACTION } from '../../contract/own-actions.js'
import type { StoreTransaction } from '../../storage/store.js'
import type { Verdict, VerifyCall } from '../../verification/verdict.js'
import type { ProvenPasskey } from './passkey-proof.js'
import { beginRecovery, cancelByPasskey } from './passkey-recovery.js'
import type { PasskeyServices } from './passkey-services.js'
import { passkeySettings } from './passkey-settings.js'
import { grantRegistration } from './registration-permit.js'

/** @returns facts for the audit entry */
export async function permitPasskeys(
  services: Pick<PasskeyServices, 'vault' | 'passkeys' | 'events'>,
  tx: StoreTransaction,
  { input, tenant, user }: VerifyCall,
  verdict: Verdict,
  passkey: ProvenPasskey | null,
  { verificationId, at }: { verificationId: string; at: number },
): Promise<AuditFacts> {
  if (verdict.reason !== null || verdict.replaySuspected || !verdict.subject) return {}
  const isRegistration = isOfType(input.action, REGISTER_ACTION)
  const possession = passkey?.possession ?? null
  const mayCancel = possession !== null && verdict.subject.record.passkeyRecovery !== null
  const isAsked = isRegistration || isOfType(input.action, RECOVER_ACTION)
  const settings = isAsked || mayCancel ? passkeySettings(tenant) : null
  if (!settings) return {}
  const isLive = verdict.comparison?.sample.liveness.passed === true
  if (isRegistration && (isLive || settings.registration === 'backend'))
    await grantRegistration(tx, verdict.subject.record, verificationId, possession, at)
  const isRecovery = isLive && isOfType(input.action, RECOVER_ACTION)
  if (!isRecovery && !mayCancel) return {}
  const subject = (await services.vault.find(tx, user.blindIndex, user.id))!
  const recovering = { userId: user.id, subject }
  return isRecovery
    ? beginRecovery(tx, services, settings, recovering, { verificationId, at })
    : cancelByPasskey(tx, services, settings, recovering, possession!)
}
