import { execFileSync } from 'node:child_process'
import { appendFileSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { beforeEach, describe, expect, it } from 'vitest'
import { openPackSource } from '../../../models/install/pack-source.js'
import { temporaryFolder } from '../../support/temporary-folder.js'

let folder: string
beforeEach(() => {
  folder = temporaryFolder()
})

const path = (...names: string[]) => join(folder, ...names)
const inPlace = (command: string, ...args: string[]) => execFileSync(command, args, { cwd: folder })
const open = (name: string) => openPackSource(path(name))

const NETWORK = Buffer.alloc(2_000_000, 'network')

/** Files of a pack from outside: nothing here reads its manifest. */
function write(name: string): void {
  mkdirSync(path(name))
  writeFileSync(path(name, 'pack.json'), `{ "of": "${name}" }`)
  writeFileSync(path(name, 'network.onnx'), NETWORK)
}

describe('a pack source', () => {
  for (const [what, name, ...command] of [
    ['a folder', 'pack', 'true'],
    ['a .tar.gz of the folder', 'pack.tar.gz', 'tar', 'czf', 'pack.tar.gz', 'pack'],
    ['a .tar.gz of its files', 'flat.tgz', 'tar', 'czf', 'flat.tgz', '-C', 'pack', '.'],
    ['a .zip', 'pack.zip', 'python3', '-m', 'zipfile', '-c', 'pack.zip', 'pack'],
  ] as Array<[string, string, string, ...string[]]>)
    it(`reads a pack from ${what}`, async () => {
      write('pack')
      inPlace(...(command as [string, ...string[]]))
      const source = await open(name)
      expect((await source.read('pack.json'))?.toString()).toBe('{ "of": "pack" }')
      expect((await source.read('network.onnx'))?.equals(NETWORK)).toBe(true)
      expect(await source.read('absent.onnx')).toBeNull()
    })
})

describe('a refused pack source', () => {
  it('refuses an archive of two packs', async () => {
    write('a')
    write('b')
    inPlace('tar', 'czf', 'two.tgz', 'a', 'b')
    await expect(open('two.tgz')).rejects.toMatchObject({ code: 'no_pack' })
  })

  it('refuses an archive that was cut off', async () => {
    write('pack')
    inPlace('tar', 'czf', 'pack.tgz', 'pack')
    const whole = readFileSync(path('pack.tgz'))
    writeFileSync(path('cut.tgz'), whole.subarray(0, whole.length >> 1))
    await expect(open('cut.tgz')).rejects.toMatchObject({ code: 'archive_unreadable' })
  })

  it('refuses an archive that unpacks without end', async () => {
    // The zeros are compressed once: gzip members may follow each other in a file.
    const zeros = gzipSync(Buffer.alloc(2 ** 26), { level: 1 })
    for (let bytes = 0; bytes <= 2 ** 30; bytes += 2 ** 26) appendFileSync(path('bomb.tgz'), zeros)
    await expect(open('bomb.tgz')).rejects.toMatchObject({ code: 'archive_unreadable' })
  })

  it('refuses a file that is no archive', async () => {
    writeFileSync(path('x'), 'x')
    await expect(open('x')).rejects.toMatchObject({ code: 'no_pack' })
  })

  it('refuses a path that does not exist', async () => {
    await expect(open('none')).rejects.toMatchObject({ code: 'file_not_found' })
  })
})

it('a link in an archive counts as no file', async () => {
  write('pack')
  rmSync(path('pack', 'network.onnx'))
  symlinkSync('/etc/passwd', path('pack', 'network.onnx'))
  inPlace('tar', 'czf', 'link.tgz', 'pack')
  expect(await (await open('link.tgz')).read('network.onnx')).toBeNull()
})
