/**
 * Rotation of the master key. The master key seals only the keyring, which holds the working keys; the working keys seal everything
 * else. A rotation replaces both, so that anyone who once held the old master key opens no later copy of the database.
 *
 * STATES of the working keys, the `phase` in a keyring (one row of the table `keyring` a master key):
 *
 *     settled ──1──▶ prepared ──3──▶ activated ──6──▶ settled
 *         ▲              │
 *         └── cancel ────┘
 *
 * `settled`: one set of keys. `prepared`: the next set opens and does not seal yet. `activated`: the next set seals, and the one before
 * opens what was not sealed again yet.
 *
 * STEPS. `prepareMasterKey` is step 1, `finishMasterKey` steps 3 to 6. Each can be repeated after a crash.
 *
 * 1. Insert a second keyring, under the new master key, in phase `prepared`. Both master keys open the database.
 * 2. The operator (or `countersign keys rotate-master` itself, where the key is in a file) configures the new master key everywhere.
 * 3. In one transaction: set the new keyring's phase to `activated`, raise its generation, delete the old keyring. From now on the old
 *    master key opens nothing. Services on stale keys write nothing: the store compares the revision of the keys at each commit.
 * 4. Wait 3 s: every service reads the keyrings each second, and seals under the new keys from then on.
 * 5. Seal all rows again, 500 a transaction, then append `working_keys_changed` to every audit log, which seals its end by the new key.
 * 6. Set the phase to `settled`, which forgets the old working keys.
 *
 * CRASHES. All are recovered by the next call of `countersign keys rotate-master` (with `--finish`, where the operator configured the
 * key); `test/keys/master-key-rotation.test.ts` and `test/cli/keys.test.ts` interrupt it.
 *
 * | process ends after | durable                                  | recovered by                                         |
 * | ------------------ | ---------------------------------------- | ---------------------------------------------------- |
 * | 1 prepared         | both keyrings; everything is sealed by the old keys | `finishMasterKey` goes on; `cancelMasterKey` deletes the new keyring |
 * | 3 activated        | the new keyring only                     | `finishMasterKey` repeats 3 without a new generation |
 * | a batch of 5       | rows under either set; both sets open    | `finishMasterKey` repeats 5: finished rows are skipped |
 * | 5                  | everything is under the new keys         | `finishMasterKey` repeats 5, which adds an audit entry, and goes on with 6 |
 * | 6 settled          | everything                               | nothing is left to do                                |
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { AuditLog } from '../audit/audit-log.js'
import { AuditedUnitOfWork, COMMAND_LINE } from '../audit/audited-unit-of-work.js'
import { masterKeyId } from '../crypto/master-key.js'
import { activateKeys, prepareKeys, type ServiceKeys, sealKeys, settleKeys } from '../crypto/service-keys.js'
import { SECOND_MS, systemClock } from '../lib/clock.js'
import { CodedError } from '../lib/errors.js'
import type { Store, StoreTransaction } from '../storage/store.js'
import { type ResealProgress, resealRows } from './reseal-rows.js'

/** How often a service reads whether the keys have changed. */
export const KEY_WATCH_MS = SECOND_MS
/** After this time every service has read the keys several times. */
const TAKEOVER_MS = 3 * KEY_WATCH_MS

/** The step does not follow from the present phase; the message says what to do instead. */
export class MasterKeyRotationError extends CodedError<
  'rotation_under_way' | 'nothing_prepared' | 'not_the_new_key'
> {}

/**
 * Step 1: stores the present and new working keys in a second keyring, sealed under the new master key.
 * @param keys the keys in use @param nextMasterKey 32 bytes @throws MasterKeyRotationError rotation_under_way
 */
export async function prepareMasterKey(
  store: Store,
  keys: ServiceKeys,
  nextMasterKey: Buffer,
): Promise<void> {
  if (keys.phase !== 'settled')
    throw new MasterKeyRotationError(
      'rotation_under_way',
      'The last change of the master key is not finished. Run: countersign keys rotate-master --finish',
    )
  await putKeyring(store, prepareKeys(keys), nextMasterKey)
}

/** Deletes the keyrings of all other master keys, as prepared ones. @returns the ids of those master keys */
export async function cancelMasterKey(store: Store, masterKey: Buffer): Promise<string[]> {
  return store.transaction('installation', (tx) => deleteOthers(tx, masterKeyId(masterKey)))
}

/**
 * Takes steps 3 to 6, from wherever the rotation stands.
 * @param keys the working keys as the configured master key opens them
 * @returns the ids of the master keys that no longer open the database
 * @throws MasterKeyRotationError nothing_prepared, not_the_new_key
 */
export async function finishMasterKey(
  store: Store,
  keys: ServiceKeys,
  masterKey: Buffer,
  onProgress: ResealProgress = () => {},
): Promise<string[]> {
  const id = masterKeyId(masterKey)
  if (keys.phase === 'settled') throw await nothingToFinish(store, id)

  const active = keys.phase === 'prepared' ? activateKeys(keys) : keys
  // A new generation: what is sealed from now on fits no copy of the database from before.
  const isNewGeneration = keys.phase === 'prepared'
  const forgotten = await putKeyring(store, active, masterKey, { isOnly: true, isNewGeneration }) // step 3
  await sleep(TAKEOVER_MS) // step 4
  await resealRows(store, active, onProgress) // step 5
  // The active keys, not the settled ones: a log to which nothing was appended meanwhile still ends in a seal of the old key.
  const audited = new AuditedUnitOfWork(store, new AuditLog(active, systemClock))
  const facts = { event: 'working_keys_changed', master_key: id } as const
  await audited.runForAll(COMMAND_LINE, async () => ({ result: undefined, facts }))
  await putKeyring(store, settleKeys(active), masterKey, { isOnly: true }) // step 6
  return forgotten
}

async function nothingToFinish(store: Store, id: string): Promise<MasterKeyRotationError> {
  const others = (await store.read.keyrings()).map((one) => one.masterKeyId).filter((one) => one !== id)
  return others.length > 0
    ? new MasterKeyRotationError(
        'not_the_new_key',
        `The configured master key ${id} is the old one. Configure ${others.join(' or ')}, restart the service, then finish. To keep the old key, run: countersign keys rotate-master --cancel`,
      )
    : new MasterKeyRotationError(
        'nothing_prepared',
        `No change of the master key is in progress; ${id} is in use.`,
      )
}

/** @param isOnly whether all other keyrings are deleted in the same transaction @returns ids of the master keys whose keyrings were deleted */
function putKeyring(
  store: Store,
  keys: ServiceKeys,
  masterKey: Buffer,
  { isOnly = false, isNewGeneration = false } = {},
): Promise<string[]> {
  const id = masterKeyId(masterKey)
  return store.transaction('installation', async (tx) => {
    const before = await tx.keyrings()
    const latest = Math.max(...before.map(({ generation }) => generation))
    const own = before.find((one) => one.masterKeyId === id)
    await tx.putKeyring({
      masterKeyId: id,
      sealed: sealKeys(keys, masterKey, id),
      createdAt: own?.createdAt ?? Date.now(),
      generation: isNewGeneration ? latest + 1 : latest,
    })
    return isOnly ? deleteOthers(tx, id) : []
  })
}

async function deleteOthers(tx: StoreTransaction, id: string): Promise<string[]> {
  const others = (await tx.keyrings()).map(({ masterKeyId: one }) => one).filter((one) => one !== id)
  for (const other of others) await tx.deleteKeyring(other)
  return others
}
