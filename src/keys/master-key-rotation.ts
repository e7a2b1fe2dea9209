/**
 * A new master key, and new working keys with it. In steps, each of which can be taken again after a crash:
 * prepare (a second keyring, under the new master key, whose new keys open and do not seal yet), activate (they seal, and the old
 * master key opens nothing any more), seal anew (row by row, while the service runs), settle (the old working keys are forgotten).
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { AuditLog } from '../audit/audit-log.js'
import { AuditedUnitOfWork, COMMAND_LINE } from '../audit/audited-unit-of-work.js'
import { dataKeyWrapping } from '../crypto/epoch-key.js'
import { masterKeyId } from '../crypto/master-key.js'
import { reseal, type SealingKey } from '../crypto/sealed-box.js'
import { activateKeys, prepareKeys, type ServiceKeys, sealKeys, settleKeys } from '../crypto/service-keys.js'
import { SECOND_MS, systemClock } from '../lib/clock.js'
import { CodedError } from '../lib/errors.js'
import type { SealedKind } from '../storage/records.js'
import type { Store, StoreTransaction } from '../storage/store.js'

/** Every service has looked several times by then. */
/** How often a service looks whether the keys have changed. */
export const KEY_WATCH_MS = SECOND_MS

const TAKEOVER_MS = 3 * KEY_WATCH_MS
const BATCH = 500

const KINDS: Array<{ kind: SealedKind; keyOf: (keys: ServiceKeys) => SealingKey }> = [
  { kind: 'subject', keyOf: dataKeyWrapping },
  { kind: 'signing_secret', keyOf: ({ secrets }) => secrets },
  { kind: 'second_factor', keyOf: ({ secrets }) => secrets },
  { kind: 'idempotency', keyOf: ({ idempotency }) => idempotency },
  { kind: 'webhook_delivery', keyOf: ({ idempotency }) => idempotency },
]

/** A step that does not come after the one before. */
export class MasterKeyRotationError extends CodedError<
  'rotation_under_way' | 'nothing_prepared' | 'not_the_new_key'
> {
  override readonly name = 'RekeyingError'
}

/**
 * Puts new working keys beside the present ones, under the new master key alone.
 * @param keys those in use @throws RekeyingError rotation_under_way
 */
export async function prepare(store: Store, keys: ServiceKeys, nextMasterKey: Buffer): Promise<void> {
  if (keys.phase !== 'settled')
    throw new MasterKeyRotationError(
      'rotation_under_way',
      'The last change of the master key is not finished: countersign keys rotate-master --finish',
    )
  await putKeyring(store, prepareKeys(keys), nextMasterKey)
}

/** Forgets a prepared master key. @returns those forgotten */
export async function cancel(store: Store, masterKey: Buffer): Promise<string[]> {
  return store.transaction((tx) => deleteOthers(tx, masterKeyId(masterKey)))
}

/**
 * Everything after `prepare`, from wherever it stands.
 * @param keys as the configured master key opens them @returns the master keys that were forgotten
 * @throws RekeyingError nothing_prepared, not_the_new_key
 */
export async function finish(
  store: Store,
  keys: ServiceKeys,
  masterKey: Buffer,
  onProgress: (done: number, total: number, label: string) => void = () => {},
): Promise<string[]> {
  const id = masterKeyId(masterKey)
  if (keys.phase === 'settled') {
    const others = (await store.read.keyrings()).filter((one) => one.masterKeyId !== id)
    throw others.length > 0
      ? new MasterKeyRotationError(
          'not_the_new_key',
          `The configured master key ${id} is the old one: configure ${others.map((one) => one.masterKeyId).join(' or ')} first, restart the service, then finish. To give the new one up: --cancel.`,
        )
      : new MasterKeyRotationError(
          'nothing_prepared',
          `No change of the master key is under way; ${id} is in use.`,
        )
  }
  const active = keys.phase === 'prepared' ? activateKeys(keys) : keys
  // Of a generation of its own: what is sealed anew fits no copy from before.
  const forgotten = await putKeyring(store, active, masterKey, {
    alone: true,
    isNewGeneration: keys.phase === 'prepared',
  })
  await sleep(TAKEOVER_MS)
  await sealRowsAnew(store, active, onProgress)
  // With the active keys, not the settled ones: a log to which nothing was appended since the change still ends in a seal of the old key.
  const audited = new AuditedUnitOfWork(store, new AuditLog(active, systemClock))
  const facts = { event: 'working_keys_changed', master_key: id } as const
  await audited.runForAll(COMMAND_LINE, async () => ({ result: undefined, facts }))
  await putKeyring(store, settleKeys(active), masterKey, { alone: true })
  return forgotten
}

async function sealRowsAnew(
  store: Store,
  keys: ServiceKeys,
  onProgress: (done: number, total: number, label: string) => void,
): Promise<void> {
  for (const [index, { kind, keyOf }] of KINDS.entries()) {
    onProgress(index, KINDS.length, kind)
    for (let after = ''; ; ) {
      const last = await store.transaction(async (tx) => {
        const rows = await tx.sealedRows(kind, after, BATCH)
        for (const { id, sealed } of rows) {
          const anew = reseal(keyOf(keys), sealed, id)
          if (anew) await tx.putSealed(kind, { id, sealed: anew })
        }
        return rows.length < BATCH ? null : rows.at(-1)!.id
      })
      if (last === null) break
      after = last
    }
  }
  onProgress(KINDS.length, KINDS.length, 'done')
}

function putKeyring(
  store: Store,
  keys: ServiceKeys,
  masterKey: Buffer,
  { alone = false, isNewGeneration = false } = {},
): Promise<string[]> {
  const id = masterKeyId(masterKey)
  return store.transaction(async (tx) => {
    const before = await tx.keyrings()
    const latest = Math.max(...before.map(({ generation }) => generation))
    const own = before.find((one) => one.masterKeyId === id)
    await tx.putKeyring({
      masterKeyId: id,
      sealed: sealKeys(keys, masterKey, id),
      createdAt: own?.createdAt ?? Date.now(),
      generation: isNewGeneration ? latest + 1 : latest,
    })
    return alone ? deleteOthers(tx, id) : []
  })
}

async function deleteOthers(tx: StoreTransaction, id: string): Promise<string[]> {
  const others = (await tx.keyrings()).map(({ masterKeyId: one }) => one).filter((one) => one !== id)
  for (const other of others) await tx.deleteKeyring(other)
  return others
}
