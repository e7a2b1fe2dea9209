import { createHash, randomBytes } from 'node:crypto'
import { readdirSync } from 'node:fs'
import type { RequestListener } from 'node:http'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { PulledPack } from '../../../tools/pack-builders/build/catalogue-entry.js'
import { findCataloguePack } from '../../../tools/pack-builders/catalogue/catalogue.js'
import { type PullOptions, pullPack } from '../../../tools/pack-builders/catalogue/pull-pack.js'
import {
  anyFace,
  engineOf,
  evaluationDataMissing,
  readEvaluationFile,
  startEngine,
} from '../../biometrics/fixtures.js'
import { type FilesServer, filesOf, serveFiles } from '../../support/files-server.js'
import { temporaryFolder } from '../../support/temporary-folder.js'

const OPENCV_ZOO = findCataloguePack('opencv-zoo') as PulledPack
const [DETECTOR, EMBEDDER] = OPENCV_ZOO.files.map(({ file, download }) => ({
  file,
  path: `/${download!.path}`,
})) as [{ file: string; path: string }, { file: string; path: string }]

let modelsDir: string
let servers: FilesServer[]
beforeEach(() => {
  modelsDir = temporaryFolder()
  servers = []
})
afterEach(() => {
  for (const server of servers) server.close()
})

async function mirror(listener: RequestListener): Promise<FilesServer> {
  const server = await serveFiles(listener)
  servers.push(server)
  return server
}

/** The catalogue's entry as if its networks were these bytes. */
function entryOf(bytes: Record<'detector' | 'embedder', Buffer>): PulledPack {
  return {
    ...OPENCV_ZOO,
    files: OPENCV_ZOO.files.map((file) => {
      const content = bytes[file.role as keyof typeof bytes]
      const sha256 = createHash('sha256').update(content).digest('hex')
      return { ...file, bytes: content.length, sha256 }
    }),
  }
}

const pull = (entry: PulledPack, options: Pick<PullOptions, 'mirror'> & Partial<PullOptions>) =>
  pullPack(entry, { modelsDir, replace: false, tryNetworks: async () => {}, ...options })

it('a pull counts bytes over all files, keeps the bytes of a failed pull, and continues from there', async () => {
  const [detector, embedder] = [randomBytes(3000), randomBytes(5000)]
  const files: Record<string, Buffer> = { [DETECTOR.path]: detector }
  const { url, requests } = await mirror((request, response) => filesOf(files)(request, response))
  const entry = entryOf({ detector, embedder })
  await expect(pull(entry, { mirror: url })).rejects.toMatchObject({ code: 'download_failed' })
  expect(readdirSync(join(modelsDir, '.opencv-zoo.download'))).toEqual([DETECTOR.file])

  files[EMBEDDER.path] = embedder
  const progress: number[] = []
  const pack = await pull(entry, {
    mirror: url,
    onProgress: (done, total) => {
      expect(total).toBe(8000)
      progress.push(done)
    },
  })
  expect(pack.dir).toBe(join(modelsDir, 'opencv-zoo'))
  expect(requests).toEqual([DETECTOR.path, EMBEDDER.path, EMBEDDER.path])
  expect([progress[0], progress.at(-1)]).toEqual([3000, 8000])
  expect(readdirSync(modelsDir)).toEqual(['opencv-zoo'])
})

describe.skipIf(evaluationDataMissing())('with networks of the evaluation data', () => {
  const network = (name: string) => readEvaluationFile(`models/${name}`)

  it('a pulled pack is in place, leaves no other files, is not requested twice, and finds a face', async () => {
    // The catalogued detector; another embedder of the same shape replaces the catalogued one, which is not on this
    // machine.
    const networks = { detector: network(DETECTOR.file), embedder: network('mobilefacenet.onnx') }
    const entry = entryOf(networks)
    const { url, requests } = await mirror(
      filesOf({ [DETECTOR.path]: networks.detector, [EMBEDDER.path]: networks.embedder }),
    )
    const tryNetworks = async (packDir: string) => (await startEngine(packDir)).close()
    for (const _ of [1, 2])
      expect(await pull(entry, { mirror: url, tryNetworks })).toMatchObject({
        modelId: 'opencv-zoo@2025.05.29',
        dir: join(modelsDir, 'opencv-zoo'),
      })
    expect(requests).toEqual([DETECTOR.path, EMBEDDER.path])
    expect(readdirSync(modelsDir)).toEqual(['opencv-zoo'])

    const engine = await engineOf(join(modelsDir, 'opencv-zoo'), { limits: anyFace })
    const photo = readEvaluationFile('faces/spoof/image_T1.jpg')
    const { sample } = await engine.verify([photo], new Float32Array(128).fill(1))
    // Path of the file in the evaluation data.
    expect(Math.abs(sample.box.x - 119)).toBeLessThan(15)
    expect(Math.abs(sample.box.y - 108)).toBeLessThan(15)
    expect(Math.abs(sample.box.width - 177)).toBeLessThan(15)
  })
})
