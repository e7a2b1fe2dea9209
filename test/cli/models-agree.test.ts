import { createHash } from 'node:crypto'
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { beforeAll, describe, expect, inject, it } from 'vitest'
import { hasByteDotProducts } from '../../models/pack/cpu-features.js'
import { loadConfig } from '../../src/app/configuration.js'
import { assertGraphsAgree } from '../../src/cli/models/graph-check.js'
import type { AgreementReport } from '../../tools/evaluation/graph-agreement.js'
import { workplaceForAll } from '../support/command.js'
import { face } from '../support/faces.js'
import { writeBroughtPack, writeCalibration } from '../support/packs.js'

const place = workplaceForAll()
beforeAll(async () => {
  await mkdir(place.path('models'))
})

const env = () => ({ COUNTERSIGN_MODELS_DIR: place.path('models') })

/** The baseline's networks; `spoil` changes the embedder's 8-bit form, and the pack says so. */
async function bring(name: string, spoil?: (bytes: Buffer) => void): Promise<string> {
  const dir = place.path('models', name)
  const file = 'embedder-int8.onnx'
  await writeBroughtPack(dir, inject('modelsDir'))
  await rm(`${dir}/calibration.json`)
  const bytes = await readFile(`${dir}/${file}`)
  spoil?.(bytes)
  await writeFile(`${dir}/${file}`, bytes)
  const manifest = JSON.parse(await readFile(`${dir}/pack.json`, 'utf8'))
  manifest.embedder.quantised.sha256 = createHash('sha256').update(bytes).digest('hex')
  await writeFile(`${dir}/pack.json`, JSON.stringify(manifest))
  return dir
}

describe('models verify --agree', () => {
  it.skipIf(!hasByteDotProducts)(
    "finds the scores of the baseline's 8-bit graphs within the bound, on the bundled photos",
    async () => {
      const { code, json } = await place.ask('models verify baseline --agree')
      const [graph] = json.agreement.graphs
      expect({ code, graph }).toEqual({
        code: 0,
        graph: {
          provider: 'cpu',
          precision: '8-bit',
          unavailable: null,
          max_score_difference: expect.any(Number),
          photos_apart: 0,
          agrees: true,
        },
      })
      expect(json.agreement).toMatchObject({ photos: 24, pairs: 276 })
      // The step from the threshold for 2e-4 to the one for 1e-4 in the shipped calibration.
      expect(json.agreement.bound).toBeCloseTo(0.782753 - 0.770564, 6)
      // The two graphs differ, so this is not one graph compared with itself.
      expect(graph.max_score_difference).toBeGreaterThan(1e-4)
    },
  )

  it.skipIf(!hasByteDotProducts)('fails where a graph gives other scores, and says by how much', async () => {
    await bring('spoilt', (bytes) => {
      // Changes the weights of one convolution.
      const start = Math.floor(bytes.length * 0.8)
      for (let i = start; i < start + 100_000; i++) bytes[i]! ^= 0x3f
    })
    const photos = [place.path('ada.jpg'), place.path('grace.jpg'), place.path('mary.jpg')]
    for (const [i, name] of (['ada', 'grace', 'mary'] as const).entries())
      await writeFile(photos[i]!, await face(name))
    const args = ['models', 'verify', 'spoilt', '--agree', '--photos', ...photos]
    const { code, json } = await place.run([...args, '--json'], env())
    const [graph] = json.agreement.graphs
    expect({ code, ok: json.ok, agrees: graph.agrees }).toEqual({ code: 1, ok: true, agrees: false })
    expect(json.agreement.pairs).toBe(3)
    expect(graph.max_score_difference).toBeGreaterThan(json.agreement.bound)
    const { code: again, stdout } = await place.run(args, env())
    expect(again).toBe(1)
    expect(stdout).toMatch(/^cpu, 8-bit +differ +0\.\d{6} +0$/m)
  })

  it('names an accelerator that does not run here, without failing', async () => {
    const { code, json } = await place.ask('models verify baseline --agree', {
      COUNTERSIGN_EXECUTION_PROVIDERS: 'tensorrt,cpu',
    })
    expect(code).toBe(0)
    expect(json.agreement.graphs.at(-1)).toMatchObject({
      provider: 'tensorrt',
      precision: 'float32',
      unavailable: expect.stringMatching(/./),
      agrees: null,
    })
  })

  it('compares an accelerator in the lane that serves, with batches of several faces', async () => {
    const { code, json } = await place.ask('models verify baseline --agree', {
      COUNTERSIGN_EXECUTION_PROVIDERS: 'cpu-lane,cpu',
    })
    expect(code).toBe(0)
    const graph = json.agreement.graphs.at(-1)
    expect(graph).toMatchObject({ provider: 'cpu-lane', precision: 'float32', photos_apart: 0, agrees: true })
    // It is the same graph on the same processor: only the order of sums differs.
    expect(graph.max_score_difference).toBeLessThan(1e-5)
  })

  it('refuses a photo that cannot be read', async () => {
    const line = `models verify baseline --agree --photos ${place.path('nowhere.jpg')}`
    const { code, error } = await place.ask(line)
    expect({ code, error: error.code }).toEqual({ code: 1, error: 'file_unreadable' })
  })
})

describe('the first start on a new provider', () => {
  const report = (provider: string, agrees: boolean | null): AgreementReport => ({
    reference: { provider: 'cpu', precision: 'float32' },
    photos: 24,
    pairs: 276,
    bound: 0.0122,
    graphs: [
      {
        provider,
        precision: 'float32',
        unavailable: agrees === null ? 'no such device' : null,
        max_score_difference: agrees === null ? null : agrees ? 0.001 : 0.25,
        photos_apart: 0,
        agrees,
      },
    ],
  })

  /** A separate data folder, and the number of measurements. */
  async function installation(name: string, providers: string) {
    const dataDir = place.path(name)
    await mkdir(dataDir, { recursive: true })
    const config = loadConfig({
      COUNTERSIGN_DATA_DIR: dataDir,
      COUNTERSIGN_MODEL_PACK: await bring(`${name}-pack`),
      COUNTERSIGN_EXECUTION_PROVIDERS: providers,
    })
    let measured = 0
    const start = (agrees: boolean | null) =>
      assertGraphsAgree(config, async () => {
        measured++
        return report('cuda', agrees)
      })
    return { config, dataDir, start, count: () => measured }
  }

  it('compares the graphs once and records that they agree', async () => {
    const { start, count, dataDir, config } = await installation('agreeing', 'cuda,cpu')
    await start(true)
    await start(false)
    expect(count()).toBe(1)
    expect(await readdir(dataDir)).toContain('graph-agreements.json')
    // Other networks need another check.
    const other = {
      ...config,
      modelPack: await bring('agreeing-other', (bytes) => {
        bytes[bytes.length >> 1]! ^= 1
      }),
    }
    await expect(assertGraphsAgree(other, async () => report('cuda', false))).rejects.toMatchObject({
      code: 'graphs_differ',
    })
  })

  it('refuses graphs that differ, every time', async () => {
    const { start, count } = await installation('differing', 'cuda')
    for (const time of [1, 2]) {
      await expect(start(false)).rejects.toMatchObject({
        code: 'graphs_differ',
        message: expect.stringMatching(/on cuda .* 0\.2500, where 0\.0122 is allowed.*models calibrate/),
      })
      expect(count()).toBe(time)
    }
  })

  it('checks nothing on a provider with which the calibration was measured', async () => {
    const { start, count, config } = await installation('calibrated', 'cuda')
    await writeCalibration(`${config.modelPack}/calibration.json`, config.modelPack, { provider: 'cuda' })
    await start(false)
    expect(count()).toBe(0)
  })

  it('skips a provider that does not exist, and tries again the next time', async () => {
    const { start, count } = await installation('absent', 'cuda')
    await start(null)
    await start(null)
    expect(count()).toBe(2)
  })

  it('checks nothing on the CPU', async () => {
    const { start, count } = await installation('processor', 'cpu')
    await start(false)
    expect(count()).toBe(0)
  })

  it('runs the command in a process of its own', async () => {
    const { config, dataDir } = await installation('real', 'tensorrt,cpu')
    process.env.COUNTERSIGN_EXECUTION_PROVIDERS = 'tensorrt,cpu'
    try {
      await assertGraphsAgree(config)
    } finally {
      delete process.env.COUNTERSIGN_EXECUTION_PROVIDERS
    }
    expect(await readdir(dataDir)).not.toContain('graph-agreements.json')
  })
})
