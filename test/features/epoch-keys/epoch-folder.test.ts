import { linkSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { EpochFolder, epochKeyId } from '../../../src/features/epoch-keys/epoch-folder.js'
import { temporaryFolder } from '../../support/temporary-folder.js'

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
