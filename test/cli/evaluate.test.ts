import { cp, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import sharp from 'sharp'
import { beforeAll, describe, expect, inject, it } from 'vitest'
import { configureDecoders } from '../../src/biometrics/pipeline/decode/decode-pixels.js'
import { workplaceForAll } from '../support/command.js'
import { face, groupPhoto, landscape, REPHOTOGRAPHED } from '../support/faces.js'
import { writeBroughtPack, writeCalibration } from '../support/packs.js'

const place = workplaceForAll()
beforeAll(async () => {
  for (const name of ['ada', 'adaToday', 'grace', 'mary'] as const)
    await writeFile(place.path(`${name}.jpg`), await face(name))
  await writeFile(place.path('landscape.jpg'), await landscape())
})

async function evaluate(lines: string[], ...options: string[]) {
  await writeFile(place.path('pairs.csv'), ['a,b,same', ...lines].join('\n'))
  return place.run(['evaluate', place.path('pairs.csv'), '--json', ...options])
}

describe('evaluate', () => {
  it('separates one person from others', async () => {
    const result = await evaluate(['ada.jpg,adaToday.jpg,1', 'ada.jpg,grace.jpg,0', 'ada.jpg,mary.jpg,0'])
    expect(result.code).toBe(0)
    expect(JSON.parse(result.stdout)).toMatchObject({
      photos: 4,
      refused: {},
      genuine_pairs: 1,
      impostor_pairs: 2,
      eer: 0,
      balanced_accuracy: 1,
      configured: { measured_fmr: 0, measured_fnmr: 0 },
    })
  })

  it('names a photo that cannot be used and counts it as a miss', async () => {
    const result = await evaluate(['ada.jpg,landscape.jpg,1', 'ada.jpg,grace.jpg,0'])
    const view = JSON.parse(result.stdout)
    expect(view.refused).toEqual({ 'landscape.jpg': 'face_not_found' })
    expect(view.configured.measured_fnmr).toBe(1)
  })

  it('takes the largest of several faces with --face largest', async () => {
    await writeFile(place.path('group.jpg'), groupPhoto())
    const refused = async (...options: string[]) =>
      JSON.parse((await evaluate(['ada.jpg,group.jpg,0', 'ada.jpg,adaToday.jpg,1'], ...options)).stdout)
        .refused
    expect(await refused()).toEqual({ 'group.jpg': 'multiple_faces' })
    expect(await refused('--largest-face')).toEqual({})
    expect(await refused('--face', 'largest')).toEqual({})
  })

  it('takes the face nearest the center with --face centre', async () => {
    // Ada large at the edge, Grace small in the middle.
    const [large, small] = [
      await sharp(await face('ada'))
        .resize(420)
        .toBuffer(),
      await sharp(await face('grace'))
        .resize(240)
        .toBuffer(),
    ]
    const { height } = await sharp(large).metadata()
    const background = { width: 1400, height: height!, channels: 3, background: '#777' } as const
    await sharp({ create: background })
      .composite([
        { input: large, left: 0, top: 0 },
        { input: small, left: 580, top: Math.round(height! / 2 - 120) },
      ])
      .jpeg()
      .toFile(place.path('both.jpg'))
    const lines = ['grace.jpg,both.jpg,1', 'grace.jpg,ada.jpg,0']
    const misses = async (which: string) => (await evaluate(lines, '--face', which)).json.configured.misses
    expect(await misses('centre')).toBe(0)
    expect(await misses('largest')).toBe(1)
  })

  it('shows people where the errors come from', async () => {
    await writeFile(place.path('pairs.csv'), 'a,b,same\nada.jpg,landscape.jpg,1\nada.jpg,grace.jpg,0')
    const { stdout } = await place.run(['evaluate', place.path('pairs.csv')])
    expect(stdout).toMatch(/^Errors, not compared +1 misses \(100 % of them\), 0 false matches \(–\)$/m)
  })

  it('names the file that it cannot read', async () => {
    const { code, error } = await place.ask(`evaluate ${place.path('nope.csv')}`)
    expect(code).toBe(1)
    expect(error.code).toBe('file_unreadable')
    expect(error.message).toContain(`Cannot read ${place.path('nope.csv')}: `)
  })

  it('refuses a file without the columns', async () => {
    await writeFile(place.path('pairs.csv'), 'x,y\n1,2')
    const result = await place.ask(`evaluate ${place.path('pairs.csv')}`)
    expect(result.code).toBe(1)
    expect(JSON.parse(result.stderr)).toMatchObject({ error: { code: 'malformed_pairs' } })
  })
})

describe('evaluate, with a folder of people', () => {
  const people = () => place.path('people')
  beforeAll(async () => {
    const darken = REPHOTOGRAPHED.darkened!
    for (const name of ['ada', 'grace', 'mary', 'joan'] as const) {
      await mkdir(place.path('people', name), { recursive: true })
      await writeFile(place.path('people', name, '1.jpg'), await face(name))
      await writeFile(place.path('people', name, '2.jpg'), await darken(await face(name)))
    }
    await writeFile(place.path('people', 'ada', '2024-01-31.jpg'), await landscape())
    await writeFile(place.path('people.csv'), 'person,eyes\nada,blue\ngrace,blue\nmary,brown\n')
  })

  it('compares everybody with everybody, separates groups, and writes every kind of report', async () => {
    const reports = ['html', 'md', 'json'].map((ending) => place.path(`report.${ending}`))
    const line = `evaluate ${people()} --groups ${place.path('people.csv')} --report ${reports.join(' ')}`
    const { code, json, stderr } = await place.ask(line)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(json).toMatchObject({
      ...{ pack: 'baseline@1.0.0', model: 'baseline@1.0.0', eer: expect.any(Number) },
      balanced_accuracy: expect.any(Number),
      photos: 9,
      people: 4,
      genuine_pairs: 6,
      impostor_pairs: 6,
      failed_to_acquire: 1,
      refused: { 'ada/2024-01-31.jpg': 'face_not_found' },
      protocol: 'one',
      points: [],
      configured: { fmr: 1e-4, threshold: 0.782753, measured_fmr: 0, measured_fmr_ci95: [0, 0.5] },
    })
    // Both pairs contain the photo that cannot be used.
    expect(json.configured.measured_fnmr).toBeCloseTo(2 / 6, 12)
    expect(json.configured.measured_fnmr_compared).toBe(0)
    expect(json.groups).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ label: 'eyes', group: 'blue', people: 2, measured_fmr: 0 }),
        expect.objectContaining({ label: 'eyes', group: 'brown', people: 1 }),
      ]),
    )
    const [html, markdown, data] = await Promise.all(reports.map((file) => readFile(file, 'utf8')))
    expect(html).toContain('<!doctype html>')
    expect(markdown).toContain('# Accuracy of face verification with baseline@1.0.0')
    expect(JSON.parse(data!).data).toMatchObject({ photos: 9, people: 4 })
    for (const text of [html, markdown, data]) expect(text).not.toMatch(/ada|grace/)
  })

  it('shows names and photos only when asked to, also in a process that decodes from memory only', async () => {
    configureDecoders()
    const file = place.path('faces.html')
    const { code, stderr } = await place.run(['evaluate', people(), '--report', file, '--include-photos'])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const html = await readFile(file, 'utf8')
    expect(html).toMatch(/<img src="data:image\/jpeg;base64,[^"]+" alt="(?:ada|grace|joan|mary)\/1\.jpg">/)
  })

  it('keeps embeddings readable by their owner only, and computes none of them twice', async () => {
    await rm(place.path('evaluations'), { recursive: true })
    const first = await place.run(['evaluate', people(), '--impostors', 'all', '--json'])
    const [name] = await readdir(place.path('evaluations'))
    const cache = place.path('evaluations', name!)
    expect((await stat(cache)).mode & 0o077).toBe(0)
    const before = await readFile(cache, 'utf8')
    // An interruption leaves the last line cut in half.
    await writeFile(cache, before.slice(0, -20))
    const second = await place.run(['evaluate', people(), '--impostors', 'all', '--json'])
    expect(second.json).toEqual(first.json)
    expect(first.json).toMatchObject({ impostor_pairs: 6 * 4 + 3 * 2, protocol: 'all' })
    const lines = (await readFile(cache, 'utf8')).trim().split('\n')
    expect(lines.length).toBe(before.trim().split('\n').length + 1)
  })

  it('refuses to calibrate on too few people', async () => {
    const file = place.path('few.json')
    const { code, error } = await place.run(['evaluate', people(), '--calibrate', file, '--json'])
    expect({ code, error: error.code }).toEqual({ code: 1, error: 'too_few_people' })
    await expect(stat(file)).rejects.toThrow()
  })

  it('refuses a report format that it does not write, before it measures', async () => {
    const { error } = await place.run(['evaluate', people(), '--report', 'x.pdf', '--json'])
    expect(error).toMatchObject({ code: 'unknown_report_format' })
  })
})

describe('models calibrate', () => {
  const env = () => ({ COUNTERSIGN_MODELS_DIR: place.path('models'), COUNTERSIGN_MODEL_PACK: 'brought' })
  beforeAll(async () => {
    await mkdir(place.path('models'))
    await writeBroughtPack(place.path('models', 'brought'), inject('modelsDir'))
  })

  it('applies measured thresholds', async () => {
    const file = place.path('measured.json')
    await writeCalibration(file, place.path('models', 'brought'))
    const written = await place.run(['models', 'calibrate', 'brought', file, '--json'], env())
    expect(written.json).toMatchObject({
      model: 'brought@1.0.0',
      file: place.path('models', 'brought', 'calibration.json'),
    })
    const { json } = await place.run(
      ['compare', place.path('ada.jpg'), place.path('ada.jpg'), '--json'],
      env(),
    )
    expect(json.threshold).toBe(0.8)
  })

  it('prints the grade before and after, and keeps what is known of groups that are not measured again', async () => {
    const installed = place.path('models', 'brought', 'calibration.json')
    await writeCalibration(installed, place.path('models', 'brought'))
    const file = place.path('blind.json')
    await writeCalibration(file, place.path('models', 'brought'), { date: '2026-06-01', groups: [] })
    const { json } = await place.run(['models', 'calibrate', 'brought', file, '--json'], env())
    expect(json.grade).toEqual({ fmr: 1e-4, before: 'production', after: 'ungrouped' })
    const { groups } = JSON.parse(await readFile(installed, 'utf8'))
    expect(groups).toMatchObject([
      { group: 'f', carried_from: '2026-05-31' },
      { group: 'm', carried_from: '2026-05-31' },
    ])
    const { stdout } = await place.run(['models', 'calibrate', 'brought', file], env())
    expect(stdout).toMatch(/^Grade before +of ungrouped grade at a false match rate of 0\.0001: /m)
    expect(stdout).toMatch(/^Grade now +of ungrouped grade .*divides nobody into groups/m)
    expect(stdout).toMatch(/^Not measured now +women \(2026-05-31\), men \(2026-05-31\): /m)
    expect(stdout).toMatch(/^For callers +every SDK refuses its production verdicts/m)
  })

  it('finds what the makers of a pack found, also where its calibration was deleted', async () => {
    const dir = place.path('models', 'baseline')
    await cp(join(inject('modelsDir'), 'baseline'), dir, { recursive: true })
    await rm(join(dir, 'calibration.json'))
    const file = place.path('baseline.json')
    await writeCalibration(file, dir, { groups: [] })
    const { json } = await place.run(['models', 'calibrate', 'baseline', file, '--json'], env())
    expect(json.grade).toEqual({ fmr: 1e-4, before: 'evaluation', after: 'evaluation' })
    expect(json.groups).toContainEqual(
      expect.objectContaining({ group: 'african', carried_from: expect.any(String) }),
    )
  })

  it('refuses thresholds of another pack and keeps those in use', async () => {
    const file = place.path('other.json')
    const pack = { id: 'other', version: '1', sha256: '0'.repeat(64) }
    await writeCalibration(file, place.path('models', 'brought'), { pack })
    const before = await readFile(place.path('models', 'brought', 'calibration.json'), 'utf8')
    const { code, error } = await place.run(['models', 'calibrate', 'brought', file, '--json'], env())
    expect({ code, error: error.code }).toEqual({ code: 1, error: 'calibration_mismatch' })
    expect(await readFile(place.path('models', 'brought', 'calibration.json'), 'utf8')).toBe(before)
    expect(await readdir(place.path('models', 'brought'))).not.toContainEqual(expect.stringContaining('.tmp'))
  })
})
