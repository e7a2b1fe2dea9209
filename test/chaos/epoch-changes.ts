/**
 * Epochs that follow each other while things go wrong, each key destroyed as soon as its epoch has ended: a synchronous standby has all that
 * was wrapped anew by then, and never needs it again.
 */

import { type Core, takeOverEpochs } from '../../src/app/core.js'
import { wrappingOf } from '../../src/crypto/epoch-key.js'
import { isOpenedBy } from '../../src/crypto/sealed-box.js'
import { EpochFolder } from '../../src/keys/epoch-folder.js'
import { EpochRotation } from '../../src/keys/epoch-rotation.js'
import { destroyRetiredKeys } from '../../src/keys/scheduled-epoch-rotation.js'
import { systemClock } from '../../src/lib/clock.js'

/** Longer than a node that stands still is waited for. */
const PATIENCE_MS = 10_000
const LAST_PATIENCE_MS = 60_000
const MAX_USERS = 1_000_000

export class EpochChanges {
  ended = 0
  private readonly folder: EpochFolder
  private readonly rotation: EpochRotation

  /** @param ledger of this process, which no proxy disturbs */
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

  /** One more; where something is in its way, the next one goes on from there. */
  async attempt(signal: AbortSignal): Promise<void> {
    try {
      await this.change(PATIENCE_MS, signal)
    } catch {
      // What is gone for good shows at the end.
    }
  }

  /** When all is well again. @returns what is wrong */
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

  /** @returns the id of its key */
  private async change(patienceMs: number, signal?: AbortSignal): Promise<string> {
    const { store } = this.core
    const { keyId } = await this.rotation.rotate({ patienceMs, ...(signal ? { signal } : {}) })
    await destroyRetiredKeys({ store, folder: this.folder, clock: systemClock, retentionMs: 0 })
    this.ended++
    return keyId
  }
}
