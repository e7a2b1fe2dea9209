/**
 * Rotation of the epoch key. A user's data key is wrapped under a working key of the database and the key of the present epoch, which
 * lies in a folder outside of the database. A rotation makes the next epoch's key, wraps every data key under it and retires the epochs
 * before; once a retired key is destroyed, no copy of the database opens the data keys that were deleted meanwhile: an erasure covers
 * every backup.
 *
 * STATES of an epoch, one row of the table `epoch` each:
 *
 *     announced ──2──▶ activated ──6──▶ completed ──▶ retired ──7──▶ (its key is destroyed)
 *         └──▶ retired, where its key is not in the folder 10 minutes after the announcement: nothing is wrapped under it
 *
 * Only one epoch is in progress (announced or activated) at a time: a unique index holds it. All services read the table and the
 * folder every second. A service reports in its own row which epochs it has `loaded` and which one it has `used` to wrap.
 *
 * STEPS. Each can be repeated after a crash, and by several processes at once.
 *
 * 1. Write the key file into the folder, then insert the row: every announced key exists.
 * 2. Wait until every live service has loaded the key, then set `activated_at`. From now on services wrap under it.
 * 3. Wait until every live service wraps under it, then raise the fence: the store rejects commits of a process that stood still and
 *    still wraps under an earlier epoch.
 * 4. Rewrap all data keys, 100 rows a statement. A row that changed since it was read is skipped, and the pass is repeated.
 * 5. Export: write all wrapped keys to `users.keys` in the folder. With it, a copy of the database from before can be opened.
 * 6. Set `completed_at`, and retire all earlier epochs in the same statement.
 * 7. Destroy the keys of epochs that were retired longer ago than the retention (`destroyRetiredKeys`).
 *
 * CRASHES. "Rotation" is the next call of `rotate`, by the leader within a minute or by `countersign keys rotate-epoch`. The tests are
 * in test/features/epoch-keys: E epochs.test.ts, F epoch-folders.test.ts, S epoch-failover.test.ts.
 *
 * | process ends after | durable                        | recovered by                                       | test |
 * | ------------------ | ------------------------------ | -------------------------------------------------- | ---- |
 * | the key file of 1  | file, no row: an orphaned key  | rotation, after a minute, announces it, so that it ends in 7 | F "orphaned keys …" |
 * | 1 announced        | file and row                   | rotation goes on with 2; a key that never appears is withdrawn | E "killed after any step", F "never appears" |
 * | 2 activated        | services wrap under the key    | rotation goes on with 3                            | E "killed after any step" |
 * | 3 fenced           | no earlier epoch is written    | rotation goes on with 4                            | E "killed after any step" |
 * | a batch of 4       | some rows under each epoch; both keys are still needed, and there | rotation repeats 4: rows that are done are skipped | S "one batch" |
 * | 4 wrapped          | all rows under the new epoch   | rotation repeats 4 and goes on with 5              | E "killed after any step" |
 * | 5 exported         | users.keys                     | rotation repeats 4 and 5, goes on with 6           | E "killed after any step" |
 * | 6 completed        | everything                     | the leader destroys retired keys each minute       | E "killed after any step" |
 *
 * A failover to an asynchronous standby can undo the last rows of the table, at any of these points: the key of an announcement that was
 * lost is then an orphaned key, under which services may have wrapped until they noticed; announced again, it opens those data keys (S).
 * A folder that is replaced during a rotation gets back the keys that this process knows (F, `EpochRegistry.restoreMissing`).
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { ServiceKeys } from '../../crypto/service-keys.js'
import type { Clock } from '../../lib/clock.js'
import { CodedError } from '../../lib/errors.js'
import type { Store } from '../../storage/store.js'
import {
  type EpochBook,
  type EpochProgress,
  type EpochRecord,
  epochsOf,
  isBaseEpoch,
} from '../postgres/exports.js'
import { exportDataKeys } from './data-key-export.js'
import type { EpochFolder } from './epoch-folder.js'
import { EpochRegistry } from './epoch-registry.js'
import { epochKeyOf, missingKeyError } from './epochs.js'
import { rewrapDataKeys } from './rewrap-data-keys.js'

const POLL_MS = 250

/**
 * `nodes_behind`: some service does not see the folder, or is of a version without epochs. `overtaken`: another process has completed
 * this epoch and begun a later one. `no_epochs`: the database is SQLite.
 */
export class EpochError extends CodedError<'nodes_behind' | 'overtaken' | 'no_epochs'> {}

/** The last step whose effect is durable, in the order of the steps. */
export type EpochStep = 'announced' | 'activated' | 'fenced' | 'wrapped' | 'exported' | 'completed'

export interface EpochRotationParts {
  store: Pick<Store, 'read' | 'shared'>
  /** The keys in use; `reloadKeys` changes this object. */
  keys: ServiceKeys
  folder: EpochFolder
  clock: Clock
  /** Reads the keys as the database and the folder have them now. */
  reloadKeys: () => Promise<void>
}

interface RotationOptions {
  /** Whether the new epoch is to have no key of its own, as before the first epoch. Default: false. */
  isBaseEpoch?: boolean
  /** How long services may take to read the key, in milliseconds. */
  patienceMs: number
  /** Called after each step, when its effect is durable. */
  onStep?: (step: EpochStep) => void
  signal?: AbortSignal
}

export class EpochRotation {
  readonly registry: EpochRegistry
  private readonly epochs: EpochBook

  /** @throws EpochError no_epochs */
  constructor(private readonly parts: EpochRotationParts) {
    const database = epochsOf(parts.store)
    if (!database)
      throw new EpochError('no_epochs', 'Epoch keys are for PostgreSQL: backups of SQLite hold no data keys.')
    this.epochs = database.epochs
    this.registry = new EpochRegistry({ ...parts, epochs: database.epochs })
  }

  /**
   * Completes the epoch that is in progress, else announces and completes a new one. Orphaned keys become epochs and are completed first.
   * @returns the completed epoch
   * @throws EpochError nodes_behind, overtaken; ConfigError; StoreUnavailableError. A later call goes on from where this one stopped
   */
  async rotate(options: RotationOptions): Promise<EpochRecord> {
    const orphanedKeys = await this.registry.orphanedKeys()
    for (;;) {
      const completed = await this.rotateOnce(options)
      if (orphanedKeys.includes(completed.keyId)) continue
      if (!options.isBaseEpoch || isBaseEpoch(completed.keyId)) return completed
    }
  }

  /** Takes steps 1 to 6, from wherever the epoch in progress stands. */
  private async rotateOnce({
    patienceMs,
    isBaseEpoch = false,
    onStep = () => {},
    signal,
  }: RotationOptions): Promise<EpochRecord> {
    const { epochs, registry } = this
    const { clock, folder, reloadKeys } = this.parts
    await registry.restoreMissing()

    const epoch = await registry.findOrAnnounce(isBaseEpoch) // step 1
    const { number } = epoch
    onStep('announced')

    if (epoch.activatedAt === null) {
      await this.waitForServices('loaded', number, { patienceMs, signal })
      // Where no service runs, nobody has shown that the key can be read: this process must.
      await this.readKey(epoch)
      await epochs.activate(number, clock.now()) // step 2
      await this.assertLast(epoch)
    }
    onStep('activated')

    await reloadKeys()
    await this.waitForServices('used', number, { patienceMs, signal })
    await epochs.fence(number) // step 3
    onStep('fenced')

    // This epoch's key, not the process's current one: a row still needs rewrapping exactly when this key does not open it.
    const epochKey = await this.readKey(epoch)
    await rewrapDataKeys(this.parts, { epoch, epochKey, epochs }, () => this.assertLast(epoch), signal) // step 4
    onStep('wrapped')

    await this.assertLast(epoch)
    // The folder may have been replaced: keys that only this process knows would end with it.
    await registry.restoreMissing()
    await exportDataKeys(this.parts, { id: epoch.keyId, key: epochKey }, folder.exportFile) // step 5
    onStep('exported')

    // A database server that was restarted lists a service only once that service has announced itself again.
    await this.waitForServices('used', number, { patienceMs, signal })
    await epochs.complete(number, clock.now()) // step 6
    onStep('completed')
    return (await epochs.all()).find((one) => one.number === number)!
  }

  /** @returns the epoch's key, or null for a base epoch @throws ConfigError where the folder lacks it */
  private async readKey(epoch: EpochRecord): Promise<Buffer | null> {
    const { folder } = this.parts
    const key = await epochKeyOf(epoch, folder)
    if (key === undefined) throw missingKeyError(epoch, folder)
    return key
  }

  private async waitForServices(
    stage: keyof EpochProgress,
    number: number,
    { patienceMs, signal }: { patienceMs: number; signal: AbortSignal | undefined },
  ): Promise<void> {
    for (const untilMs = performance.now() + patienceMs; ; await sleep(POLL_MS, undefined, { signal })) {
      const behind = await this.epochs.behind(stage, number)
      if (behind.length === 0) return
      if (performance.now() > untilMs)
        throw new EpochError(
          'nodes_behind',
          `${behind.join(', ')} cannot read the key of epoch ${number} from COUNTERSIGN_EPOCH_KEYS. The log of each says why. ` +
            'Check that the setting names the folder that the other services use, then rotate again: the epoch goes on.',
        )
    }
  }

  /** A process that stood still must not go on with an epoch whose key may have been destroyed. @throws EpochError overtaken */
  private async assertLast({ keyId }: EpochRecord): Promise<void> {
    const last = (await this.epochs.all()).at(-1)
    if (last?.keyId !== keyId || last.retiredAt !== null)
      throw new EpochError(
        'overtaken',
        'This epoch is no longer the last: another process has completed it, or the database was replaced.',
      )
  }
}
