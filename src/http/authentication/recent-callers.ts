/** Remembers the latest callers by a digest of their credential, so that health is answered and signed also while the database is down. */
import { createHash } from 'node:crypto'
import type { ActiveSecrets } from '../../tenants/signing-secrets.js'
import type { Caller } from '../../tenants/tenancy.js'
import type { PageFacts } from '../../verification/call.js'

/** An authenticated caller with the secrets that sign its replies. */
export interface Identity {
  caller: Caller
  secrets: ActiveSecrets
}

/** A caller inside the service whose key was checked before: the hosted capture page. */
export interface InternalCaller {
  identity: Identity
  facts: PageFacts
}

const MAX_CALLERS = 100

export class RecentCallers {
  private readonly identities = new Map<string, Identity>()

  remember(credential: string | undefined, identity: Identity): void {
    const digest = digestOf(credential)
    this.identities.delete(digest)
    this.identities.set(digest, identity)
    // A Map keeps the order of insertion: its first entry has not called for longest.
    if (this.identities.size > MAX_CALLERS) this.identities.delete(this.identities.keys().next().value!)
  }

  find(credential: string | undefined): Identity | undefined {
    return this.identities.get(digestOf(credential))
  }
}

function digestOf(credential = ''): string {
  return createHash('sha256').update(credential).digest('base64')
}
