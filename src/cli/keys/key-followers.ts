/** Checks whether every running service can continue under another master key. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { ServiceNode } from '../../storage/coordinator.js'
import type { Store } from '../../storage/store.js'
import { CommandError } from '../lib/output.js'

/** Services look for keys every second and report every half second what they found. */
const PATIENCE_MS = 5000
const ASK_MS = 100

/**
 * Resolves once every service reports that it can read the master key.
 * @param id of the key @param remedy sentences for the operator
 * @throws CommandError services_cannot_follow, with the name of each service that cannot, and the keys that it can read
 */
export async function assertServicesRead(
  store: Pick<Store, 'services'>,
  id: string,
  remedy: string,
): Promise<void> {
  for (const untilMs = performance.now() + PATIENCE_MS; ; await sleep(ASK_MS)) {
    const behind = (await store.services()).filter(({ masterKeys }) => !masterKeys?.includes(id))
    if (behind.length === 0) return
    if (performance.now() < untilMs) continue
    throw new CommandError(
      'services_cannot_follow',
      `Nothing was changed, because these services cannot read master key ${id} and would refuse all calls under it: ${behind.map(describe).join('; ')}. ${remedy}`,
    )
  }
}

function describe({ name, masterKeys }: ServiceNode): string {
  return masterKeys === null
    ? `${name} (it is starting, or of an earlier version, and does not say which keys it can read)`
    : `${name} (it can read ${masterKeys.join(', ')})`
}
