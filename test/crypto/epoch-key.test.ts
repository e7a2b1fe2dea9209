import { randomBytes } from 'node:crypto'
import { linkSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import {
  dataKeyWrapping,
  epochKeyId,
  NO_EPOCHS,
  newEpochKey,
  wrappingOf,
} from '../../src/crypto/epoch-key.js'
import { isOpenedBy, type SealingKey, seal } from '../../src/crypto/sealed-box.js'
import { EpochFolder } from '../../src/keys/epoch-folder.js'
import { temporaryFolder } from '../support/temporary-folder.js'

const alone = (key: Buffer): SealingKey => ({ current: key, others: [] })
const id = 'sub_1'

describe('a data key of an epoch', () => {
  const wrapping = alone(randomBytes(32))
  const [past, present] = [newEpochKey(), newEpochKey()]
  const sealed = seal(
    dataKeyWrapping({ wrapping, epochs: { current: present, others: [past] } }).current,
    randomBytes(32),
    id,
  )

  it('a data key opens with the working key and the epoch key together, and with neither of them separately', () => {
    expect(isOpenedBy(wrappingOf({ wrapping }, present), { id, sealed })).toBe(true)
    expect(isOpenedBy(wrapping, { id, sealed })).toBe(false)
    expect(isOpenedBy(alone(present), { id, sealed })).toBe(false)
    expect(isOpenedBy(wrappingOf({ wrapping: alone(randomBytes(32)) }, present), { id, sealed })).toBe(false)
  })

  it('a data key of one epoch does not open with the key of another', () => {
    expect(isOpenedBy(wrappingOf({ wrapping }, past), { id, sealed })).toBe(false)
    const later = { current: newEpochKey(), others: [past] }
    expect(isOpenedBy(dataKeyWrapping({ wrapping, epochs: later }), { id, sealed })).toBe(false)
  })

  it('data keys open during a change of either key, those from before the first epoch too', () => {
    const renewed = { current: randomBytes(32), others: [wrapping.current] }
    const keys = { wrapping: renewed, epochs: { current: newEpochKey(), others: [present] } }
    const before = seal(wrapping.current, randomBytes(32), id)
    for (const box of [sealed, before]) {
      expect(isOpenedBy(dataKeyWrapping(keys), { id, sealed: box })).toBe(true)
      expect(isOpenedBy(wrappingOf(keys, keys.epochs.current), { id, sealed: box })).toBe(false)
    }
  })

  it('only the working key wraps data keys before the first epoch', () => {
    expect(dataKeyWrapping({ wrapping, epochs: NO_EPOCHS })).toEqual(wrapping)
  })
})

describe('the folder of epoch keys', () => {
  let path: string
  beforeEach(() => {
    path = temporaryFolder()
  })

  it('each epoch key file is named by the id of its key and readable by its owner only', async () => {
    const made = await new EpochFolder(path).make('database')
    expect(readdirSync(path)).toEqual([`${made}.epoch-key`])
    expect(statSync(join(path, `${made}.epoch-key`)).mode & 0o777).toBe(0o600)
    const key = (await new EpochFolder(path).read(made))!
    expect([key.length, epochKeyId(key)]).toEqual([32, made])
    expect(await new EpochFolder(path).read('0'.repeat(32))).toBeNull()
  })

  it('destroying an epoch key overwrites its file and keeps other files', async () => {
    const folder = new EpochFolder(path)
    const [gone, kept] = [await folder.make('database'), await folder.make('database')]
    const file = join(path, `${gone}.epoch-key`)
    const text = readFileSync(file, 'utf8')
    // The same bytes under another name.
    linkSync(file, join(path, 'bytes'))
    expect(await folder.destroy(new Set([gone, '0'.repeat(32)]))).toEqual([gone])
    expect(readdirSync(path).sort()).toEqual(['bytes', `${kept}.epoch-key`].sort())
    const left = readFileSync(join(path, 'bytes'))
    expect(left).toHaveLength(text.length)
    expect(left.includes(text.slice(0, 16))).toBe(false)
    expect(await new EpochFolder(path).read(gone)).toBeNull()
  })

  it('a missing folder of epoch keys is not created: the volume may not be mounted', async () => {
    const missing = join(path, 'nowhere')
    await expect(new EpochFolder(missing).make('database')).rejects.toThrow(/there is no folder/)
    expect(readdirSync(path)).toEqual([])
  })
})
