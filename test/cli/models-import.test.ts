import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { beforeEach, describe, expect, inject, it } from 'vitest'
import { foreignNode, outputOfType, withOpset } from '../support/changed-networks.js'
import { workplaceForEach } from '../support/command.js'
import { changeEmbedder, writeBroughtPack } from '../support/packs.js'

const MAX_TAR_BYTES = 50_000_000

const place = workplaceForEach()
let env: Record<string, string>
beforeEach(async () => {
  env = { COUNTERSIGN_MODELS_DIR: place.path('models') }
})

const write = (name: string, changes?: (manifest: Record<string, unknown>) => object) =>
  writeBroughtPack(place.path(name), inject('modelsDir'), changes)
const run = (path: string, ...options: string[]) =>
  place.run(['models', 'import', path, '--json', ...options], env)
/** Content of the models folder, hidden folders included. */
const installed = () => (existsSync(place.path('models')) ? readdirSync(place.path('models')) : [])

describe('models import', () => {
  const INSTALLED = { id: 'brought', model: 'brought@1.0.0', dimensions: 128 }
  const expectComplete = async () => {
    expect(installed()).toEqual(['brought'])
    const verified = await place.run(['models', 'verify', 'brought', '--json'], env)
    expect(verified.json).toMatchObject({ ok: true, model: 'brought@1.0.0' })
  }

  it('takes a folder, can be repeated, and replaces another pack only when asked to', async () => {
    await write('pack')
    const first = await run(place.path('pack'))
    expect(first).toMatchObject({ code: 0, json: { ...INSTALLED, dir: place.path('models', 'brought') } })
    await expectComplete()
    // The second time it says so to people.
    const again = await place.run(['models', 'import', place.path('pack')], env)
    expect(again.code).toBe(0)
    expect(again.stdout).toMatch(/^Pack +brought@1\.0\.0$/m)
    expect(again.stdout).toMatch(/^embedder\.onnx +MIT/m)
    expect(again.stdout).toContain('COUNTERSIGN_MODEL_PACK=brought')
    await write('next', () => ({ version: '2.0.0' }))
    expect(await run(place.path('next'))).toMatchObject({ code: 1, error: { code: 'pack_exists' } })
    expect((await run(place.path('next'), '--replace')).json.model).toBe('brought@2.0.0')
    expect(installed()).toEqual(['brought'])
  })

  it('takes a .tar.gz of the folder, and the installed pack is complete', async () => {
    await write('pack')
    const tar = execFileSync('tar', ['cf', '-', 'pack'], { cwd: place.dataDir, maxBuffer: MAX_TAR_BYTES })
    // Stored as it is: packing networks tightly takes half a second of a core.
    writeFileSync(place.path('pack.tar.gz'), gzipSync(tar, { level: 0 }))
    const result = await run(place.path('pack.tar.gz'))
    expect(result).toMatchObject({ code: 0, json: { ...INSTALLED, dir: place.path('models', 'brought') } })
    await expectComplete()
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
      const verified = await place.ask(`models verify ${place.path('pack')}`, env)
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
    const verified = await place.ask(`models verify ${place.path('pack')}`, env)
    expect(verified.json.problem).toContain('compute something else here')
  })

  it('refuses a pack that does not exist', async () => {
    const result = await run(place.path('none'))
    expect(result).toMatchObject({ code: 1, stdout: '', error: { code: 'file_not_found' } })
  })
})
