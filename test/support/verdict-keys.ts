/** The keys of public verdicts of an installation, as tests make, rotate and read them. */
import type { Core } from '../../src/admin/core.js'
import type { Service } from '../../src/app/service.js'
import { configuredSigner } from '../../src/features/public-verdicts/external-signer.js'
import { VERDICT_KEYS } from '../../src/features/public-verdicts/signing-key-table.js'
import { VerdictKeyRing } from '../../src/features/public-verdicts/verdict-key-ring.js'
import { VerdictKeyRotation } from '../../src/features/public-verdicts/verdict-key-rotation.js'
import type { Clock } from '../../src/lib/clock.js'

export function verdictKeysOf(core: Core, clock: Clock) {
  const stored = () => core.store.read.statements(VERDICT_KEYS.reader).all()
  return {
    rotation: new VerdictKeyRotation({ ...core, clock, external: null }),
    stored,
    /** The keys as a service has them after it has read them now. */
    async ring() {
      const ring = new VerdictKeyRing(core.keys, clock)
      ring.replace(await stored())
      return ring
    },
  }
}

/** The same of a running service, with the program of its settings. */
export function verdictKeysOfService(service: Pick<Service, 'core' | 'clock' | 'config'>) {
  const { core, clock, config } = service
  const external = configuredSigner(config)
  return {
    ...verdictKeysOf(core, clock),
    rotation: new VerdictKeyRotation({ ...core, clock, external }),
    /** Has the service read its keys now, as the key watch does each second. */
    reload: (): Promise<void> => Reflect.get(service, 'work').keyWatch.look(),
  }
}
