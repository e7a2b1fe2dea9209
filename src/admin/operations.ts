/** All operations on tenants, keys, users and people that the API, the command line and the dashboard share. */
import type { AuditLog } from '../audit/audit-log.js'
import { AuditedUnitOfWork } from '../audit/audited-unit-of-work.js'
import type { ServiceKeys } from '../crypto/service-keys.js'
import type { Clock } from '../lib/clock.js'
import type { Store } from '../storage/store.js'
import type { SigningSecrets } from '../tenants/signing-secrets.js'
import type { Tenancy } from '../tenants/tenancy.js'
import type { TemplateVault } from '../users/template-vault.js'
import type { Outbox } from '../webhooks/outbox.js'
import { AgeingOperations } from './ageing-operations.js'
import { ExportUser } from './export-user.js'
import { KeyOperations } from './key-operations.js'
import { ModelOperations } from './model-operations.js'
import { ModelSweep } from './model-sweep.js'
import { PeopleOperations } from './people-operations.js'
import { SecondFactorOperations } from './second-factor-operations.js'
import { SessionOperations } from './session-operations.js'
import { SignInOperations } from './sign-in-operations.js'
import { TenantLifecycle } from './tenant-lifecycle.js'
import { TenantOperations } from './tenant-operations.js'
import { UserOperations } from './user-operations.js'
import { UserSamples } from './user-sample.js'
import { WebhookOperations } from './webhook-operations.js'

export interface OperationParts {
  store: Store
  audit: AuditLog
  keys: Pick<ServiceKeys, 'secrets'>
  tenancy: Tenancy
  secrets: SigningSecrets
  vault: TemplateVault
  outbox: Outbox
  clock: Clock
}

export class Operations {
  /** Runs the operations of features too. */
  readonly audited: AuditedUnitOfWork
  readonly tenants: TenantOperations
  readonly lifecycle: TenantLifecycle
  readonly keys: KeyOperations
  readonly users: UserOperations
  readonly operators: PeopleOperations
  /** Operations on the people of one tenant. */
  readonly peopleOf: (tenantId: string) => PeopleOperations
  readonly signIns: SignInOperations
  readonly sessions: SessionOperations
  readonly secondFactors: SecondFactorOperations
  readonly webhooks: WebhookOperations
  readonly models: ModelOperations
  readonly modelSweep: ModelSweep
  readonly ageing: AgeingOperations
  readonly exports: ExportUser
  readonly samples: UserSamples

  constructor({ store, audit, keys, tenancy, secrets, vault, outbox, clock }: OperationParts) {
    const audited = new AuditedUnitOfWork(store, audit)
    this.audited = audited
    this.tenants = new TenantOperations(audited, tenancy, clock)
    this.lifecycle = new TenantLifecycle(audited, store, clock)
    this.keys = new KeyOperations(audited, tenancy, secrets)
    this.users = new UserOperations(audited, store, vault, outbox, clock)
    this.operators = new PeopleOperations(audited, store, clock)
    this.peopleOf = (tenantId) => new PeopleOperations(audited, store, clock, tenantId)
    this.signIns = new SignInOperations(audited, store, clock)
    this.secondFactors = new SecondFactorOperations(audited, store, keys, clock)
    this.sessions = new SessionOperations(audited, store, clock)
    this.models = new ModelOperations(audited, store, clock)
    this.modelSweep = new ModelSweep({ store, audited, models: this.models, vault, clock })
    this.ageing = new AgeingOperations(audited, store, vault)
    this.exports = new ExportUser({ store, audited, users: this.users, vault, clock })
    this.samples = new UserSamples({ store, audited, vault })
    this.webhooks = new WebhookOperations(audited, store, outbox, clock)
  }
}
