/** All operations of an installation, as the command line and the dashboard share them. The APIs need only those of `Operations`. */
import type { Clock } from '../lib/clock.js'
import type { Core } from './core.js'
import { ExportUser } from './export-user.js'
import { PeopleOperations } from './people-operations.js'
import { SecondFactorOperations } from './second-factor-operations.js'
import { SessionOperations } from './session-operations.js'
import { SignInOperations } from './sign-in-operations.js'
import { TenantLifecycle } from './tenant-lifecycle.js'
import { TenantOperations } from './tenant-operations.js'
import { UserSamples } from './user-sample.js'

export type Administration = ReturnType<typeof administration>

/** The core of an installation, with all operations. */
export type AdministeredCore = Core & { operations: Administration }

export function administered(core: Core, clock: Clock): AdministeredCore {
  return { ...core, operations: administration(core, clock) }
}

function administration({ store, keys, tenancy, vault, events, operations }: Core, clock: Clock) {
  const { audited, users } = operations
  return {
    ...operations,
    tenants: new TenantOperations(audited, tenancy, clock),
    lifecycle: new TenantLifecycle(audited, store, events, clock),
    operators: new PeopleOperations(audited, store, clock),
    /** Operations on the people of one tenant. */
    peopleOf: (tenantId: string) => new PeopleOperations(audited, store, clock, tenantId),
    signIns: new SignInOperations(audited, store, clock),
    sessions: new SessionOperations(audited, store, clock),
    secondFactors: new SecondFactorOperations(audited, store, keys, clock),
    exports: new ExportUser({ store, audited, users, vault, clock }),
    samples: new UserSamples({ store, audited, vault }),
  }
}
