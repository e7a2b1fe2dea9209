/**
 * Rotates key epochs during the faults, and destroys each key as soon as its epoch has ended: by then a synchronous standby has all data
 * keys in their new wrapping.
 */

import type { Core } from '../../src/admin/core.js'
import { wrappingOf } from '../../src/crypto/epoch-key.js'
import { isOpenedBy } from '../../src/crypto/sealed-box.js'
import { EpochFolder } from '../../src/features/epoch-keys/epoch-folder.js'
import { EpochRotation } from '../../src/features/epoch-keys/epoch-rotation.js'
import { takeOverEpochs } from '../../src/features/epoch-keys/epochs.js'
import { destroyRetiredKeys } from '../../src/features/epoch-keys/scheduled-epoch-rotation.js'
import { systemClock } from '../../src/lib/clock.js'

/** Longer than a rotation waits for a node that stands still. */
const PATIENCE_MS = 10_000
const LAST_PATIENCE_MS = 60_000
const MAX_USERS = 1_000_000

export class EpochChanges {
  ended = 0
  private readonly folder: EpochFolder
  private readonly rotation: EpochRotation

  /** @param ledger core of this process, whose connections pass no proxy */
  constructor(
    private readonly core: Core,
    path: string,
  ) {
    const { store, keys } = core
    this.folder = new EpochFolder(path)
    this.rotation = new EpochRotation({
      ...{ store, keys, folder: this.folder, clock: systemClock },
      reloadKeys: async () => void (await takeOverEpochs(store, keys, this.folder)),
    })
  }

  /** Rotates once. When a fault prevents it, the next attempt continues there. */
  async attempt(signal: AbortSignal): Promise<void> {
    try {
      await this.change(PATIENCE_MS, signal)
    } catch {
      // A rotation that can never be completed is found at the end.
    }
  }

  /** Rotates after all faults have ended. @returns the problems found */
  async examine(): Promise<string[]> {
    const { store, keys } = this.core
    try {
      const keyId = await this.change(LAST_PATIENCE_MS)
      const present = wrappingOf(keys, await this.folder.read(keyId))
      const rows = await store.read.sealedRows('subject', '', MAX_USERS)
      const problems = rows
        .filter((row) => !isOpenedBy(present, row))
        .map(({ id }) => `${id} is not wrapped under the present epoch`)
      const left = await this.folder.ids()
      if (left.length !== 1) problems.push(`the folder of epoch keys holds ${left.length} keys`)
      return problems
    } catch (error) {
      return [`no epoch ends any more: ${(error as Error).message}`]
    }
  }

  /** Rotates once. @returns the id of the new key */
  private async change(patienceMs: number, signal?: AbortSignal): Promise<string> {
    const { store } = this.core
    const { keyId } = await this.rotation.rotate({ patienceMs, ...(signal ? { signal } : {}) })
    await destroyRetiredKeys({ store, folder: this.folder, clock: systemClock, retentionMs: 0 })
    this.ended++
    return keyId
  }
}
