/** Helpers for tests of epoch keys that use a database and a folder, without a service. */
import { readdirSync } from 'node:fs'
import { expect } from 'vitest'
import type { Core } from '../../../src/admin/core.js'
import { wrappingOf } from '../../../src/crypto/epoch-key.js'
import { isOpenedBy } from '../../../src/crypto/sealed-box.js'
import { EpochFolder } from '../../../src/features/epoch-keys/epoch-folder.js'
import { EpochRotation } from '../../../src/features/epoch-keys/epoch-rotation.js'
import { takeOverEpochs } from '../../../src/features/epoch-keys/epochs.js'
import { destroyRetiredKeys } from '../../../src/features/epoch-keys/scheduled-epoch-rotation.js'
import { systemClock } from '../../../src/lib/clock.js'

export function rotationOf({ store, keys }: Core, folder: EpochFolder): EpochRotation {
  return new EpochRotation({
    ...{ store, keys, folder, clock: systemClock },
    reloadKeys: async () => void (await takeOverEpochs(store, keys, folder)),
  })
}

/** Destroys the keys of retired epochs without any retention. */
export function destroyEnded({ store }: Core, folder: EpochFolder): Promise<string[]> {
  return destroyRetiredKeys({ store, folder, clock: systemClock, retentionMs: 0 })
}

/** Names of the key files, sorted. */
export function keyFiles(path: string): string[] {
  return readdirSync(path)
    .filter((name) => name.endsWith('.epoch-key'))
    .sort()
}

/** Inserts a user into the database without a reference. @param vault wraps the data key; it may be another process's than the store */
export async function enrol(
  { store }: Pick<Core, 'store'>,
  { vault }: Pick<Core, 'vault'>,
  tenantId: string,
  userId: string,
): Promise<void> {
  const blindIndex = vault.blindIndex(tenantId, 'production', userId)
  await store.transaction('installation', (tx) =>
    tx.insertSubject(vault.create(tenantId, 'production', blindIndex, userId).record),
  )
}

export async function opens({ store, vault }: Core, tenantId: string, userId: string): Promise<boolean> {
  return (await vault.find(store.read, vault.blindIndex(tenantId, 'production', userId), userId)) !== null
}

/** Asserts that all data keys open with that epoch key and the database's keys together, and none with the database's keys only. */
export async function assertAllUnder(
  { store, keys }: Core,
  folder: EpochFolder,
  keyId: string,
): Promise<void> {
  const present = wrappingOf(keys, (await new EpochFolder(folder.path).read(keyId))!)
  const rows = await store.read.sealedRows('subject', '', 10_000)
  expect(rows.length).toBeGreaterThan(0)
  expect(rows.filter((row) => !isOpenedBy(present, row))).toEqual([])
  expect(rows.filter((row) => isOpenedBy(keys.wrapping, row))).toEqual([])
}
