/** Rotates the keys of public verdicts on schedule, as the leader, and erases the private halves of keys that no longer sign. */
import type { Logger } from 'pino'
import type { Actor } from '../../audit/audited-unit-of-work.js'
import type { LeaderLease } from '../../cluster/leader-lease.js'
import { type Clock, MINUTE_MS } from '../../lib/clock.js'
import { PeriodicTask } from '../../lib/periodic-task.js'
import type { Store } from '../../storage/store.js'
import { VERDICT_KEYS } from './signing-key-table.js'
import { ANNOUNCED_MS, ENVIRONMENTS, type VerdictKeyRotation } from './verdict-key-rotation.js'

/** The actor of a rotation that nobody asked for. */
const SCHEDULE: Actor = { name: 'schedule', requestId: null }

export interface VerdictKeyScheduleParts {
  store: Pick<Store, 'read'>
  rotation: VerdictKeyRotation
  leaderLease: Pick<LeaderLease, 'current'>
  clock: Clock
  log: Logger
  /** Milliseconds from a key's first signature to the first one of the next key; 0 for no schedule. */
  intervalMs: number
  /** Reads the keys as the database has them now. */
  reloadKeys: () => Promise<void>
}

export class VerdictKeySchedule extends PeriodicTask {
  constructor(private readonly parts: VerdictKeyScheduleParts) {
    super(
      MINUTE_MS,
      () => this.rotateIfDue(),
      (err) => parts.log.error({ err }, 'verdict key rotation failed, will retry'),
    )
  }

  override start(): void {
    super.start()
    void this.now()
  }

  async rotateIfDue(): Promise<void> {
    const { store, rotation, leaderLease, clock, log, intervalMs, reloadKeys } = this.parts
    // The leader's clock is right: no key is rotated or erased by a clock that is ahead.
    if (!leaderLease.current()) return
    const records = await store.read.statements(VERDICT_KEYS.reader).all()
    for (const environment of ENVIRONMENTS) {
      const newest = records.findLast((record) => record.environment === environment)
      // The next key is published before it is due to sign.
      const isDue = newest && intervalMs > 0 && newest.signsFrom + intervalMs - ANNOUNCED_MS <= clock.now()
      if (!isDue || newest.signsFrom > clock.now()) continue
      const [next] = await rotation.rotate([environment], SCHEDULE)
      log.info({ environment, kid: next!.id }, 'published the next verdict key: it signs in two hours')
      await reloadKeys()
    }
    const erased = await rotation.erasePrivateHalves()
    if (erased.length > 0) log.info({ kids: erased }, 'erased the private halves of retired verdict keys')
  }
}
