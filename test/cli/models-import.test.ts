import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
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
/** Content of the models folder, hidden folders included. */
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
  ] as const)
    it(`takes ${what}, and the installed pack is complete`, async () => {
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

  it('can be repeated, and replaces another pack only when asked to', async () => {
    await write('pack')
    expect((await run(place.path('pack'))).code).toBe(0)
    expect((await run(place.path('pack'))).code).toBe(0)
    await write('next', () => ({ version: '2.0.0' }))
    expect(await run(place.path('next'))).toMatchObject({ code: 1, error: { code: 'pack_exists' } })
    expect((await run(place.path('next'), '--replace')).json.model).toBe('brought@2.0.0')
    expect(installed()).toEqual(['brought'])
  })

  it('shows people the installed pack', async () => {
    await write('pack')
    const { stdout } = await place.run(['models', 'import', place.path('pack')], env)
    expect(stdout).toMatch(/^Pack +brought@1\.0\.0$/m)
    expect(stdout).toMatch(/^embedder\.onnx +MIT/m)
    expect(stdout).toContain('COUNTERSIGN_MODEL_PACK=brought')
  })
})

describe('models import of a wrong pack', () => {
  const spoilt: Record<string, [code: string, changes: (manifest: Record<string, unknown>) => object]> = {
    'whose embedding has another length': [
      'pack_unusable',
      ({ embedder }) => ({ embedder: { ...(embedder as object), dimensions: 64 } }),
    ],
    'whose input has another size': [
      'pack_unusable',
      ({ embedder }) => {
        const { input, ...rest } = embedder as { input: object }
        return { embedder: { ...rest, input: { ...input, width: 64, height: 64 } } }
      },
    ],
    'whose network is another file': [
      'pack_file_mismatch',
      ({ embedder }) => ({ embedder: { ...(embedder as object), sha256: '0'.repeat(64) } }),
    ],
  }
  for (const [what, [code, changes]] of Object.entries(spoilt))
    it(`refuses a pack ${what} and installs nothing`, async () => {
      await write('pack', changes)
      const result = await run(place.path('pack'))
      expect(result).toMatchObject({ code: 1, stdout: '', error: { code } })
      expect(installed()).toEqual([])
    })

  it('refuses a pack that does not exist', async () => {
    const result = await run(place.path('none'))
    expect(result).toMatchObject({ code: 1, stdout: '', error: { code: 'file_not_found' } })
  })
})
