/** The operations on keys, users and models that the APIs and the work between requests need. `administration.ts` has all. */
import type { AuditLog } from '../audit/audit-log.js'
import { AuditedUnitOfWork } from '../audit/audited-unit-of-work.js'
import type { Events } from '../events/events.js'
import type { Clock } from '../lib/clock.js'
import type { Store } from '../storage/store.js'
import type { SigningSecrets } from '../tenants/signing-secrets.js'
import type { Tenancy } from '../tenants/tenancy.js'
import type { TemplateVault } from '../users/template-vault.js'
import { KeyOperations } from './key-operations.js'
import { ModelOperations } from './model-operations.js'
import { ModelSweep } from './model-sweep.js'
import { UserOperations } from './user-operations.js'

export interface OperationParts {
  store: Store
  audit: AuditLog
  tenancy: Tenancy
  secrets: SigningSecrets
  vault: TemplateVault
  events: Events
  clock: Clock
}

export type Operations = ReturnType<typeof operationsOf>

export function operationsOf({ store, audit, tenancy, secrets, vault, events, clock }: OperationParts) {
  const audited = new AuditedUnitOfWork(store, audit)
  const models = new ModelOperations(audited, store, clock)
  return {
    /** Runs the operations of features too. */
    audited,
    keys: new KeyOperations(audited, tenancy, secrets),
    users: new UserOperations(audited, store, vault, events, clock),
    models,
    modelSweep: new ModelSweep({ store, audited, models, vault, clock }),
  }
}
