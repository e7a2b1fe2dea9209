/** One-time links that sign a tenant in to the dashboard. */
import { createHash } from 'node:crypto'
import { randomBase62 } from '../../crypto/identifiers.js'
import { HOUR_MS } from '../../lib/clock.js'
import type { StoreTransaction } from '../../storage/store.js'
import { accounts } from './account-statements.js'

/** How long a link can be used. */
export const LOGIN_LINK_MS = HOUR_MS

/** SHA-256, the only form in which tokens of links and sessions are stored: 256 random bits need no slow hash. */
export function hashToken(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}

/**
 * Makes a link. The token is in the fragment, which no browser sends: it reaches neither logs nor `Referer`.
 * @param adminUrl address of the dashboard, without a slash at its end
 */
export async function createLoginLink(
  tx: StoreTransaction,
  { tenantId, adminUrl, now }: { tenantId: string; adminUrl: string; now: number },
): Promise<string> {
  const token = randomBase62()
  await accounts(tx).insertLoginLink({ hash: hashToken(token), tenantId, expiresAt: now + LOGIN_LINK_MS })
  return linkOf(adminUrl, token)
}

/** The link for a token. @param adminUrl address of the dashboard, without a slash at its end */
export function linkOf(adminUrl: string, token: string): string {
  return `${adminUrl}/#/login/${token}`
}
