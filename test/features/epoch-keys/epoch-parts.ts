/** Helpers for tests of epoch keys. */
import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect } from 'vitest'
import type { Core } from '../../../src/admin/core.js'
import { openCore } from '../../../src/app/core.js'
import { wrappingOf } from '../../../src/crypto/epoch-key.js'
import { isOpenedBy } from '../../../src/crypto/sealed-box.js'
import { EpochFolder } from '../../../src/features/epoch-keys/epoch-folder.js'
import { EpochRotation } from '../../../src/features/epoch-keys/epoch-rotation.js'
import { takeOverEpochs } from '../../../src/features/epoch-keys/epochs.js'
import { destroyRetiredKeys } from '../../../src/features/epoch-keys/scheduled-epoch-rotation.js'
import { systemClock } from '../../../src/lib/clock.js'
import { type Cluster, startCluster } from '../../cluster/nodes.js'
import { temporaryFolder } from '../../support/temporary-folder.js'

export function rotationOf({ store, keys }: Core, folder: EpochFolder): EpochRotation {
  return new EpochRotation({
    ...{ store, keys, folder, clock: systemClock },
    reloadKeys: async () => void (await takeOverEpochs(store, keys, folder)),
  })
}

type Rotated = Partial<Parameters<EpochRotation['rotate']>[0]>

export const rotate = (core: Core, folder: EpochFolder, options: Rotated = {}) =>
  rotationOf(core, folder).rotate({ patienceMs: 60_000, ...options })

/** A folder of epoch keys for each test, and services over one database that use it. */
export class EpochStage {
  path = ''
  cluster!: Cluster
  private readonly cores: Core[] = []

  constructor() {
    beforeEach(() => {
      this.path = join(temporaryFolder(), 'epochs')
      mkdirSync(this.path)
    })
    afterEach(async () => {
      for (const core of this.cores.splice(0)) await core.store.close()
      await this.cluster?.stop()
    })
  }

  get folder(): EpochFolder {
    return new EpochFolder(this.path)
  }

  /** @param env by default, only the tests begin epochs */
  async start(count: number, env: Record<string, string> = { COUNTERSIGN_EPOCH_HOURS: '0' }): Promise<void> {
    this.cluster = await startCluster(count, { COUNTERSIGN_EPOCH_KEYS: this.path, ...env })
  }

  /** A core as a command opens it. */
  async core(env: Record<string, string> = {}): Promise<Core> {
    const opened = await openCore(await this.cluster.configure(env))
    this.cores.push(opened)
    return opened
  }

  rotate(core: Core, options?: Rotated) {
    return rotate(core, this.folder, options)
  }

  destroyEnded(core: Core): Promise<string[]> {
    return destroyEnded(core, this.folder)
  }

  assertAllUnder(core: Core, keyId: string): Promise<void> {
    return assertAllUnder(core, this.folder, keyId)
  }
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
