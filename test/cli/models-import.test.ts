import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest'
import { foreignNode, outputOfType, withOpset } from '../support/changed-networks.js'
import { type Workplace, workplace } from '../support/command.js'
import { changeEmbedder, writeBroughtPack } from '../support/packs.js'

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
    ['a .tar.gz of the folder', 'pack.tar.gz', ['sh', '-c', 'tar cf - pack | gzip -1 > pack.tar.gz']],
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

  const networks: Record<string, [change: (embedder: Buffer) => Buffer, text: string]> = {
    'whose output is float16': [
      (embedder) => outputOfType(embedder, 'half', 10),
      'embedder.onnx has the output "half" of type float16',
    ],
    'whose graph was optimised for one processor': [
      (embedder) => foreignNode(embedder, 'com.microsoft.nchwc'),
      'embedder.onnx holds nodes of the domain com.microsoft.nchwc',
    ],
    'that was made for a newer opset': [
      () => Buffer.from(withOpset(27, 13)),
      'embedder.onnx was made for opset 27 and IR version 13; this version of Countersign runs up to opset 26',
    ],
  }
  for (const [what, [change, text]] of Object.entries(networks))
    it(`refuses a network ${what} at import, and names it in verify`, async () => {
      await write('pack')
      await changeEmbedder(place.path('pack'), change)
      const result = await run(place.path('pack'))
      expect(result).toMatchObject({ code: 1, stdout: '', error: { code: 'network_unusable' } })
      expect(result.error?.message).toContain(text)
      expect(result.error?.message).not.toContain('onnxruntime_src')
      expect(installed()).toEqual([])
      const verified = await place.run(['models', 'verify', place.path('pack'), '--json'], env)
      expect(verified).toMatchObject({ code: 1, json: { ok: false, problem: expect.stringContaining(text) } })
    })

  it('refuses a pack whose embedder computes something else than its calibration was measured with', async () => {
    await write('pack')
    const file = place.path('pack', 'calibration.json')
    const calibration = JSON.parse(readFileSync(file, 'utf8'))
    const embedding = Buffer.from(calibration.check.embedding, 'base64').reverse().toString('base64')
    writeFileSync(file, JSON.stringify({ ...calibration, check: { ...calibration.check, embedding } }))
    const result = await run(place.path('pack'))
    expect(result).toMatchObject({ code: 1, stdout: '' })
    expect(result.error?.message).toContain('compute something else here')
    expect(installed()).toEqual([])
    const verified = await place.run(['models', 'verify', place.path('pack'), '--json'], env)
    expect(verified.json.problem).toContain('compute something else here')
  })

  it('refuses a pack that does not exist', async () => {
    const result = await run(place.path('none'))
    expect(result).toMatchObject({ code: 1, stdout: '', error: { code: 'file_not_found' } })
  })
})
