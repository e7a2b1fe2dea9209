import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, inject, it } from 'vitest'
import { type InstallOptions, installPack } from '../../../models/install/install-pack.js'
import { openPackSource, type PackSource } from '../../../models/install/pack-source.js'
import { CodedError } from '../../../src/lib/errors.js'
import { writeBroughtPack } from '../../support/packs.js'
import { temporaryFolder } from '../../support/temporary-folder.js'

let folder: string
let brought: string
let source: PackSource
beforeEach(async () => {
  folder = temporaryFolder()
  brought = join(folder, 'brought')
  await writeBroughtPack(brought, inject('modelsDir'))
  source = await openPackSource(brought)
})

const modelsDir = () => join(folder, 'models')
const NETWORKS = ['detector.onnx', 'landmarks.onnx', 'embedder.onnx', 'embedder-int8.onnx']

function install(options: Partial<InstallOptions> = {}) {
  const whole = { modelsDir: modelsDir(), replace: false, tryNetworks: async () => {}, ...options }
  return installPack(source, 'the source', whole)
}

it('the networks of a pack are tried before it is in place, and progress is reported', async () => {
  const progress: Array<[number, number, string]> = []
  const seen: string[][] = []
  const pack = await install({
    onProgress: (...step) => progress.push(step),
    tryNetworks: async (packDir) => {
      expect(packDir).not.toBe(join(modelsDir(), 'brought'))
      seen.push(readdirSync(packDir).sort())
    },
  })
  expect(pack).toMatchObject({ modelId: 'brought@1.0.0', dir: join(modelsDir(), 'brought') })
  // The calibration says what the networks have to compute.
  expect(seen).toEqual([[...NETWORKS, 'calibration.json', 'pack.json'].sort()])
  expect(progress).toEqual([...NETWORKS, 'trying every network'].map((label, done) => [done, 5, label]))
  expect(readdirSync(modelsDir())).toEqual(['brought'])
  expect(readdirSync(join(modelsDir(), 'brought'))).toContain('calibration.json')
})

it('a whole pack in place is kept, and only the manifest of its source is read', async () => {
  await install()
  const asked: string[] = []
  const tried: string[] = []
  const { read } = source
  source = {
    fetch: async () => void asked.push('all of it'),
    read: (name) => {
      asked.push(name)
      return read(name)
    },
  }
  await install({ tryNetworks: async (packDir) => void tried.push(packDir) })
  expect({ asked, tried }).toEqual({ asked: ['pack.json'], tried: [] })
})

it('networks that do not run leave nothing behind, and the error keeps the reason', async () => {
  const reason = new Error('no such operator')
  const failure = await install({ tryNetworks: () => Promise.reject(reason) }).catch((error) => error)
  expect(failure).toBeInstanceOf(CodedError)
  expect(failure).toMatchObject({ code: 'pack_unusable', cause: reason })
  expect(failure.message).toContain('no such operator')
  expect(readdirSync(modelsDir())).toEqual([])
})

describe('a refused pack', () => {
  const embedder = () => join(brought, 'embedder.onnx')
  const bring = (changes: Parameters<typeof writeBroughtPack>[2]) =>
    writeBroughtPack(brought, inject('modelsDir'), changes)
  const spoilt: Record<string, [code: string, spoil: () => unknown]> = {
    'with a flipped bit': [
      'pack_file_mismatch',
      () => {
        const bytes = readFileSync(embedder())
        bytes[bytes.length >> 1]! ^= 1
        writeFileSync(embedder(), bytes)
      },
    ],
    'without one of its networks': ['pack_file_missing', () => rmSync(embedder())],
    'whose manifest names a file elsewhere': [
      'pack_invalid',
      () => bring((manifest) => ({ embedder: { ...(manifest.embedder as object), file: '../x.onnx' } })),
    ],
    'named baseline': ['reserved_name', () => bring(() => ({ id: 'baseline' }))],
    'without pack.json': ['pack_not_found', () => rmSync(join(brought, 'pack.json'))],
  }
  for (const [what, [code, spoil]] of Object.entries(spoilt))
    it(`refuses a pack ${what}, and leaves nothing behind`, async () => {
      await spoil()
      await expect(install()).rejects.toMatchObject({ code })
      mkdirSync(modelsDir(), { recursive: true })
      expect(readdirSync(modelsDir())).toEqual([])
    })

  it('a pack is refused if its place holds an unrelated folder', async () => {
    const taken = join(modelsDir(), 'brought')
    mkdirSync(taken, { recursive: true })
    writeFileSync(join(taken, 'notes.txt'), 'mine')
    await expect(install()).rejects.toMatchObject({ code: 'folder_occupied' })
    expect(readdirSync(taken)).toEqual(['notes.txt'])
    expect(readdirSync(modelsDir())).toEqual(['brought'])
  })
})
