/** Who called lately, by a digest of the credential: whoever asks for health is still answered, and signed, without a database. */
import { createHash } from 'node:crypto'
import type { ActiveSecrets } from '../../tenants/signing-secrets.js'
import type { Caller } from '../../tenants/tenancy.js'

/** A caller who is known, with the secrets that sign what it gets. */
export interface Identity {
  caller: Caller
  secrets: ActiveSecrets
}

/** Who calls within the service itself, their key checked before: the hosted capture page. */
export interface InternalCaller {
  identity: Identity
  captureSession: string
}

const MAX_CALLERS = 100

export class RecentCallers {
  private readonly identities = new Map<string, Identity>()

  remember(credential: string | undefined, identity: Identity): void {
    const digest = digestOf(credential)
    this.identities.delete(digest)
    this.identities.set(digest, identity)
    // A map keeps the order of entry: the first is the one that has not called for longest.
    if (this.identities.size > MAX_CALLERS) this.identities.delete(this.identities.keys().next().value!)
  }

  find(credential: string | undefined): Identity | undefined {
    return this.identities.get(digestOf(credential))
  }
}

function digestOf(credential = ''): string {
  return createHash('sha256').update(credential).digest('base64')
}
