import { execFileSync } from 'node:child_process'
import { createWriteStream, readdirSync } from 'node:fs'
import { mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest'
import { type Workplace, workplace } from '../support/command.js'
import { writeBroughtPack } from '../support/packs.js'

let place: Workplace
let env: Record<string, string>
beforeEach(async () => {
  place = await workplace()
  env = { COUNTERSIGN_MODELS_DIR: place.path('models') }
})
afterEach(() => place?.dispose())

const write = (name: string, changes?: (manifest: Record<string, unknown>) => object) =>
  writeBroughtPack(place.path(name), inject('modelsDir'), changes)
const run = (path: string, ...options: string[]) =>
  place.run(['models', 'import', path, '--json', ...options], env)
const inPlace = ([command, ...args]: readonly string[]) =>
  execFileSync(command!, args, { cwd: place.dataDir })
/** What is in the models folder, hidden folders included. */
const installed = () => {
  try {
    return readdirSync(place.path('models'))
  } catch {
    return []
  }
}

describe('models import', () => {
  for (const [what, pack, command] of [
    ['a folder', 'pack', ['true']],
    ['a .tar.gz of the folder', 'pack.tar.gz', ['tar', 'czf', 'pack.tar.gz', 'pack']],
    ['a .tar.gz of its files', 'flat.tgz', ['tar', 'czf', 'flat.tgz', '-C', 'pack', '.']],
    ['a .zip', 'pack.zip', ['python3', '-m', 'zipfile', '-c', 'pack.zip', 'pack']],
  ] as const)
    it(`takes ${what}, and what is then in place is whole`, async () => {
      await write('pack')
      inPlace(command)
      const { code, json } = await run(place.path(pack))
      expect(code).toBe(0)
      expect(json).toMatchObject({
        id: 'brought',
        model: 'brought@1.0.0',
        dir: place.path('models', 'brought'),
        dimensions: 128,
      })
      expect(installed()).toEqual(['brought'])
      const verified = await place.run(['models', 'verify', 'brought', '--json'], env)
      expect(verified.json).toMatchObject({ ok: true, model: 'brought@1.0.0' })
    })

  it('may be repeated, and replaces another one only when told to', async () => {
    await write('pack')
    expect((await run(place.path('pack'))).code).toBe(0)
    expect((await run(place.path('pack'))).code).toBe(0)
    await write('next', () => ({ version: '2.0.0' }))
    expect(await run(place.path('next'))).toMatchObject({ code: 1, error: { code: 'pack_exists' } })
    expect((await run(place.path('next'), '--replace')).json.model).toBe('brought@2.0.0')
    expect(installed()).toEqual(['brought'])
  })

  it('shows people what it is', async () => {
    await write('pack')
    const { stdout } = await place.run(['models', 'import', place.path('pack')], env)
    expect(stdout).toMatch(/^Pack +brought@1\.0\.0$/m)
    expect(stdout).toMatch(/^embedder\.onnx +MIT/m)
    expect(stdout).toContain('COUNTERSIGN_MODEL_PACK=brought')
  })
})

describe('a pack that is not what it says is refused, and leaves nothing behind', () => {
  const EMBEDDER = 'embedder.onnx'
  const spoilt: Record<string, [code: string, spoil: () => Promise<string>]> = {
    'with a flipped bit': [
      'pack_file_mismatch',
      async () => {
        await write('pack')
        const bytes = await readFile(place.path('pack', EMBEDDER))
        bytes[bytes.length >> 1]! ^= 1
        await writeFile(place.path('pack', EMBEDDER), bytes)
        return 'pack'
      },
    ],
    'without one of its networks': [
      'pack_file_missing',
      async () => {
        await write('pack')
        await rm(place.path('pack', EMBEDDER))
        return 'pack'
      },
    ],
    'whose embedding has another length': [
      'pack_unusable',
      async () => {
        await write('pack', ({ embedder }) => ({ embedder: { ...(embedder as object), dimensions: 64 } }))
        return 'pack'
      },
    ],
    'whose input has another size': [
      'pack_unusable',
      async () => {
        await write('pack', ({ embedder }) => {
          const { input, ...rest } = embedder as { input: object }
          return { embedder: { ...rest, input: { ...input, width: 64, height: 64 } } }
        })
        return 'pack'
      },
    ],
    'whose manifest names a file elsewhere': [
      'pack_invalid',
      async () => {
        await write('pack', ({ embedder }) => ({ embedder: { ...(embedder as object), file: '../x.onnx' } }))
        return 'pack'
      },
    ],
    'named baseline': [
      'reserved_name',
      async () => {
        await write('pack', () => ({ id: 'baseline' }))
        return 'pack'
      },
    ],
    'without pack.json': [
      'pack_not_found',
      async () => {
        await mkdir(place.path('pack'))
        return 'pack'
      },
    ],
    'in an archive of two': [
      'no_pack',
      async () => {
        await write('a')
        await write('b')
        inPlace(['tar', 'czf', 'two.tgz', 'a', 'b'])
        return 'two.tgz'
      },
    ],
    'in an archive that was cut off': [
      'archive_unreadable',
      async () => {
        await write('pack')
        inPlace(['tar', 'czf', 'pack.tgz', 'pack'])
        await writeFile(
          place.path('cut.tgz'),
          (await readFile(place.path('pack.tgz'))).subarray(0, 1_000_000),
        )
        return 'cut.tgz'
      },
    ],
    'in an archive that unpacks without end': [
      'archive_unreadable',
      async () => {
        await pipeline(
          zeros(2 ** 30 + 2 ** 20),
          createGzip({ level: 1 }),
          createWriteStream(place.path('bomb.tgz')),
        )
        return 'bomb.tgz'
      },
    ],
    'in an archive where a link stands for a network': [
      'pack_file_missing',
      async () => {
        await write('pack')
        await rm(place.path('pack', EMBEDDER))
        await symlink('/etc/passwd', place.path('pack', EMBEDDER))
        inPlace(['tar', 'czf', 'link.tgz', 'pack'])
        return 'link.tgz'
      },
    ],
    'that is some other file': [
      'no_pack',
      async () => {
        await writeFile(place.path('x'), 'x')
        return 'x'
      },
    ],
    'that is not there': ['file_not_found', async () => 'none'],
  }
  for (const [what, [code, spoil]] of Object.entries(spoilt))
    it(what, async () => {
      const result = await run(place.path(await spoil()))
      expect(result).toMatchObject({ code: 1, stdout: '', error: { code } })
      expect(installed()).toEqual([])
    })

  it('where a folder of something else stands in its place', async () => {
    await write('pack')
    await mkdir(place.path('models', 'brought'), { recursive: true })
    await writeFile(place.path('models', 'brought', 'notes.txt'), 'mine')
    expect(await run(place.path('pack'))).toMatchObject({ code: 1, error: { code: 'folder_occupied' } })
    expect(readdirSync(place.path('models', 'brought'))).toEqual(['notes.txt'])
  })
})

function* zeros(bytes: number): Generator<Buffer> {
  const chunk = Buffer.alloc(2 ** 20)
  for (let sent = 0; sent < bytes; sent += chunk.length) yield chunk
}
