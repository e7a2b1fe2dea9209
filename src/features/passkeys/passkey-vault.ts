/** Passkeys at rest: each credential is sealed under its user's data key, and is lost for ever with that key. */
import { createHash } from 'node:crypto'
import { prefixedId } from '../../crypto/identifiers.js'
import { open, sealWithin } from '../../crypto/sealed-box.js'
import type { Clock } from '../../lib/clock.js'
import type { SubjectRecord } from '../../storage/records.js'
import type { StoreReader, StoreTransaction } from '../../storage/store.js'
import type { Subject, TemplateVault } from '../../users/template-vault.js'
import { type PasskeyRecord, passkeyReader, passkeyWriter } from './passkey-table.js'

/** A WebAuthn credential as it is stored. Bytes are in base64url. */
export interface PasskeyContent {
  credentialId: string
  /** The public key as a COSE key (RFC 9052). */
  publicKey: string
  /** Number of signatures, as the authenticator counts them; 0 for one that does not count. */
  counter: number
  /** How the browser reaches the authenticator, such as `internal` or `usb`. */
  transports: string[]
  /** Whether the provider may copy the credential to other devices (flag BE). */
  isSynced: boolean
  /** Whether the credential was copied when it was last used (flag BS). */
  isBackedUp: boolean
  /** Model of the authenticator; zeros where it does not say. */
  aaguid: string
  /** Fingerprint of the root that attested the authenticator; absent where none did. */
  attestedBy?: string
  name: string | null
  /** When the passkey was last refused because its counter did not grow; absent where it never was. */
  counterReversedAt?: number
}

export interface Passkey {
  record: PasskeyRecord
  content: PasskeyContent
}

export class PasskeyVault {
  constructor(
    private readonly vault: Pick<TemplateVault, 'blindIndex'>,
    private readonly clock: Clock,
  ) {}

  async of(store: StoreReader, subject: Pick<Subject, 'record' | 'dataKey'>): Promise<Passkey[]> {
    const records = await store.statements(passkeyReader).of(subject.record.id)
    return records.map((record) => ({
      record,
      content: JSON.parse(open(subject.dataKey, record.sealed, record.id).toString()) as PasskeyContent,
    }))
  }

  /** @returns the new passkey, or null where the credential is registered already, for this user or another one of the tenant */
  async add(tx: StoreTransaction, subject: Subject, content: PasskeyContent): Promise<Passkey | null> {
    const now = this.clock.now()
    const id = prefixedId('pky', now)
    const record: PasskeyRecord = {
      id,
      subjectId: subject.record.id,
      lookup: this.lookupOf(subject.record, content.credentialId),
      sealed: sealed(subject, id, content),
      createdAt: now,
      lastUsedAt: null,
    }
    return (await tx.statements(passkeyWriter).insert(record)) ? { record, content } : null
  }

  /** Notes that the passkey signed with a counter that did not grow. The counter stays as it was. */
  async noteReversedCounter(
    tx: StoreTransaction,
    subject: Subject,
    { record, content }: Passkey,
  ): Promise<void> {
    const { id, lastUsedAt } = record
    const noted = { ...content, counterReversedAt: this.clock.now() }
    await tx.statements(passkeyWriter).noteUse({ id, sealed: sealed(subject, id, noted), lastUsedAt })
  }

  async noteUse(tx: StoreTransaction, subject: Subject, { record, content }: Passkey): Promise<void> {
    const { id } = record
    const use = { id, sealed: sealed(subject, id, content), lastUsedAt: this.clock.now() }
    await tx.statements(passkeyWriter).noteUse(use)
  }

  /** Keyed digest of the credential. No user id begins with a control character, so that no digest is that of a user. */
  private lookupOf({ tenantId, environment }: SubjectRecord, credentialId: string): Buffer {
    return this.vault.blindIndex(tenantId, environment, `\0passkey\0${credentialId}`)
  }
}

/**
 * The user handle (WebAuthn, section 6.1) of a user: the same for each passkey, and without meaning to anybody who reads it from a device.
 * @returns 32 bytes in base64url
 */
export function userHandle(blindIndex: Buffer): string {
  return createHash('sha256').update('countersign/v1/passkey-user\0').update(blindIndex).digest('base64url')
}

function sealed({ dataKey }: Subject, id: string, content: PasskeyContent): Buffer {
  return sealWithin(dataKey, Buffer.from(JSON.stringify(content)), id)
}
