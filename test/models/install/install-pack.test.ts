import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, inject, it } from 'vitest'
import { type InstallOptions, installPack } from '../../../models/install/install-pack.js'
import { openPackSource, type PackSource } from '../../../models/install/pack-source.js'
import { CodedError } from '../../../src/errors.js'
import { writeBroughtPack } from '../../support/packs.js'

let folder: string
let brought: string
let source: PackSource
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'countersign-install-'))
  brought = join(folder, 'brought')
  await writeBroughtPack(brought, inject('modelsDir'))
  source = await openPackSource(brought)
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const modelsDir = () => join(folder, 'models')
const NETWORKS = ['detector.onnx', 'landmarks.onnx', 'embedder.onnx', 'embedder-int8.onnx']

function install(options: Partial<InstallOptions> = {}) {
  const whole = { modelsDir: modelsDir(), replace: false, tryNetworks: async () => {}, ...options }
  return installPack(source, 'the source', whole)
}

it('has its networks tried before it is in place, and tells how far it is', async () => {
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
  expect(seen).toEqual([[...NETWORKS, 'pack.json'].sort()])
  expect(progress).toEqual([...NETWORKS, 'trying every network'].map((label, done) => [done, 5, label]))
  expect(readdirSync(modelsDir())).toEqual(['brought'])
})

it('asks the source for nothing but its manifest where the pack is in place and whole', async () => {
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

it('leaves nothing behind of networks that do not run, and keeps the reason', async () => {
  const reason = new Error('no such operator')
  const failure = await install({ tryNetworks: () => Promise.reject(reason) }).catch((error) => error)
  expect(failure).toBeInstanceOf(CodedError)
  expect(failure).toMatchObject({ code: 'pack_unusable', cause: reason })
  expect(failure.message).toContain('no such operator')
  expect(readdirSync(modelsDir())).toEqual([])
})
