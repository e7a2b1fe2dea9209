/** Notes when a production user was last enrolled or approved, for policies that erase users that nobody uses. */
import { DAY_MS } from '../../lib/clock.js'
import type { StoreTransaction } from '../../storage/store.js'
import type { Subject, TemplateVault } from '../../users/template-vault.js'
import type { UserCall } from '../../verification/call.js'
import { retentionWriter } from './retention-statements.js'

/** Shortest time between two notes of one user: a note is a write, and policies count in days. */
const NOTE_INTERVAL_MS = DAY_MS

/** The sandbox notes nothing here: it erases unused users by a setting of its own. @param at milliseconds since the Unix epoch */
export async function noteUse(
  vault: Pick<TemplateVault, 'sealUserId'>,
  tx: StoreTransaction,
  { user, tenant, environment }: Pick<UserCall<unknown>, 'user' | 'tenant' | 'environment'>,
  subject: Subject,
  at: number,
): Promise<void> {
  if (environment !== 'production') return
  const sealed = vault.sealUserId(subject, user.id)
  await tx
    .statements(retentionWriter)
    .noteUse({ blindIndex: user.blindIndex, tenantId: tenant.id, sealed, usedAt: at }, at - NOTE_INTERVAL_MS)
}
