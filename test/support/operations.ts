/** All operations on the installation of a service, as its command line has them. */
import { type Administration, administered } from '../../src/admin/administration.js'
import type { Service } from '../../src/app/service.js'

export function operationsOf({ core, clock }: Pick<Service, 'core' | 'clock'>): Administration {
  return administered(core, clock).operations
}
