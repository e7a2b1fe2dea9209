import { existsSync, readdirSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import type { RequestListener } from 'node:http'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import type { PulledPack } from '../../tools/pack-builders/build/catalogue-entry.js'
import { findCataloguePack } from '../../tools/pack-builders/catalogue/catalogue.js'
import { anyFace, engineOf, evaluationDataMissing, readEvaluationFile } from '../biometrics/fixtures.js'
import { workplaceForEach } from '../support/command.js'
import { type FilesServer, filesOf, serveFiles } from '../support/files-server.js'

const OPENCV_ZOO = findCataloguePack('opencv-zoo') as PulledPack
const [DETECTOR, EMBEDDER] = OPENCV_ZOO.files.map(({ file, bytes, download }) => ({
  file,
  bytes,
  path: `/${download!.path}`,
})) as [Mirrored, Mirrored]
interface Mirrored {
  file: string
  bytes: number
  path: string
}

const place = workplaceForEach()
let env: Record<string, string>
beforeEach(() => {
  env = { COUNTERSIGN_MODELS_DIR: place.path('models') }
})

async function mirror(listener: RequestListener): Promise<FilesServer> {
  const server = await serveFiles(listener)
  onTestFinished(() => void server.close())
  return server
}

const pull = (...args: string[]) => place.run(['models', 'pull', ...args, '--json'], env)
/** Content of the models folder, hidden folders included. */
const installed = () => (existsSync(place.path('models')) ? readdirSync(place.path('models')) : [])

describe('models pull', () => {
  it.each(['nothing', 'toString', '../opencv-zoo'])(
    'refuses the unknown pack %s and names the known ones',
    async (name) => {
      const result = await pull(name)
      expect(result).toMatchObject({ code: 2, stdout: '', error: { code: 'unknown_pack' } })
      expect(result.error.message).toContain('Known packs: opencv-zoo, recommended')
    },
  )

  it.each(['baseline', 'standard'])('says how to build %s, which is not downloaded', async (name) => {
    const result = await pull(name)
    expect(result).toMatchObject({ code: 2, error: { code: 'unknown_pack' } })
    expect(result.error.message).toContain(`countersign models build ${name}`)
  })

  it.each([
    'ftp://127.0.0.1/x',
    'mirror',
    'http://user:secret@127.0.0.1',
    'http://127.0.0.1/?key=secret',
    'http://127.0.0.1/#secret',
  ])('refuses %s as a mirror and repeats no secret', async (address) => {
    const result = await pull('opencv-zoo', '--mirror', address)
    expect(result).toMatchObject({ code: 2, stdout: '', error: { code: 'invalid_mirror' } })
    expect(result.stderr).not.toContain('secret')
  })

  it('says what else can be done where the mirror does not answer', async () => {
    const closed = await mirror(filesOf({}))
    closed.close()
    const result = await pull('opencv-zoo', '--mirror', closed.url)
    expect(result).toMatchObject({ code: 1, stdout: '', error: { code: 'download_failed' } })
    expect(result.error.message).toMatch(/ECONNREFUSED.*Check the mirror.*models import/)
    expect(installed()).toEqual([])
  })

  it('names the file that the mirror lacks', async () => {
    const { url } = await mirror(filesOf({}))
    const result = await pull('opencv-zoo', '--mirror', `${url}/zoo/`)
    expect(result).toMatchObject({ code: 1, stdout: '', error: { code: 'download_failed' } })
    expect(result.error.message).toContain(`${url}/zoo${DETECTOR.path}: the server answered 404`)
    expect(installed()).toEqual([])
  })

  it('installs nothing where the bytes differ', async () => {
    const { url } = await mirror(filesOf({ [DETECTOR.path]: Buffer.alloc(DETECTOR.bytes) }))
    const result = await pull('opencv-zoo', '--mirror', url)
    expect(result).toMatchObject({ code: 1, stdout: '', error: { code: 'checksum_mismatch' } })
    expect(readdirSync(place.path('models', '.opencv-zoo.download'))).toEqual([])
    expect(installed()).toEqual(['.opencv-zoo.download'])
    const { json } = await place.ask('models list', env)
    expect(json.filter((pack: { installed: boolean }) => pack.installed)).toEqual([])
  })

  it('downloads nothing where another pack has the name, unless asked to replace it', async () => {
    const { url, requests } = await mirror(filesOf({}))
    const other = { ...OPENCV_ZOO.document(OPENCV_ZOO.files), version: '1' }
    await mkdir(place.path('models', 'opencv-zoo'), { recursive: true })
    await writeFile(place.path('models', 'opencv-zoo', 'pack.json'), JSON.stringify(other))
    expect(await pull('opencv-zoo', '--mirror', url)).toMatchObject({
      code: 1,
      error: { code: 'pack_exists' },
    })
    expect(requests).toEqual([])
    expect(await pull('opencv-zoo', '--mirror', url, '--replace')).toMatchObject({
      error: { code: 'download_failed' },
    })
    expect(requests).toEqual([DETECTOR.path])
  })
})

describe.skipIf(evaluationDataMissing())('with networks of the evaluation data', () => {
  const network = (name: string) => readEvaluationFile(`models/${name}`)

  it('keeps the other files of a failed pull for the next one', async () => {
    const { url, requests } = await mirror(filesOf({ [DETECTOR.path]: network(DETECTOR.file) }))
    for (const _ of [1, 2])
      expect(await pull('opencv-zoo', '--mirror', url)).toMatchObject({
        code: 1,
        error: { code: 'download_failed' },
      })
    expect(requests).toEqual([DETECTOR.path, EMBEDDER.path, EMBEDDER.path])
    expect(readdirSync(place.path('models', '.opencv-zoo.download'))).toEqual([DETECTOR.file])
  })

  it('downloads and builds the recommended pack, which distinguishes a live face from a photograph of one', async () => {
    const entry = findCataloguePack('recommended') as PulledPack
    const downloads = entry.files.flatMap(({ file, download }) => (download ? [{ file, download }] : []))
    const names: Record<string, string> = {
      'mobilefacenet.onnx': 'mobilefacenet_foamliu.onnx',
      'minifasnet.onnx': 'minifasnet_v2_2.7_80x80.fizray.onnx',
    }
    const { url, requests } = await mirror(
      filesOf(
        Object.fromEntries(
          downloads.map(({ file, download }) => [`/${download.path}`, network(names[file]!)]),
        ),
      ),
    )
    expect(await pull('recommended', '--mirror', url)).toMatchObject({
      code: 0,
      json: { id: 'recommended', dir: place.path('models', 'recommended'), dimensions: 128 },
    })
    expect(requests).toEqual(downloads.map(({ download }) => `/${download.path}`))
    expect(installed()).toEqual(['recommended'])
    expect(await place.ask('models verify recommended', env)).toMatchObject({
      code: 0,
      json: { ok: true },
    })

    const engine = await engineOf(place.path('models', 'recommended'), { limits: anyFace })
    for (const [photo, isLive] of [
      ['image_T1', true],
      ['image_F2', false],
    ] as const) {
      const picture = readEvaluationFile(`faces/spoof/${photo}.jpg`)
      const { sample } = await engine.verify([picture], new Float32Array(128).fill(1))
      expect([photo, sample.liveness.passed]).toEqual([photo, isLive])
    }
  })
})
