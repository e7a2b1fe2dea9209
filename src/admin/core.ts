/** The core of an installation: what commands and the service have in common. `app/core.ts` opens it. */
import type { AuditLog } from '../audit/audit-log.js'
import type { Config } from '../config/config.js'
import type { Events } from '../events/events.js'
import type { WorkingKeys } from '../keys/working-keys.js'
import type { SharedStore, Store } from '../storage/store.js'
import type { SigningSecrets } from '../tenants/signing-secrets.js'
import type { Tenancy } from '../tenants/tenancy.js'
import type { TemplateVault } from '../users/template-vault.js'
import type { Operations } from './operations.js'

export interface Core {
  store: Store
  keys: WorkingKeys
  secrets: SigningSecrets
  tenancy: Tenancy
  audit: AuditLog
  vault: TemplateVault
  events: Events
  operations: Operations
  /** The master key under which the keyring is sealed. */
  masterKey: Buffer
}

/** The parts with which keys outside of the database are read, under which users' data keys are wrapped too. */
export interface KeyParts extends Pick<Core, 'keys'> {
  store: { shared: Pick<SharedStore, 'requireOwnKeys'> | null }
  config: Config
}
