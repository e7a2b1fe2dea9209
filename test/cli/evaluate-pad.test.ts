import { mkdir, readFile, writeFile } from 'node:fs/promises'
import sharp from 'sharp'
import { beforeAll, describe, expect, inject, it } from 'vitest'
import { parseCsv } from '../../tools/evaluation/csv.js'
import { evaluationDataMissing, readEvaluationFile, writeEvaluationPack } from '../biometrics/fixtures.js'
import { workplaceForAll } from '../support/command.js'
import { face, landscape } from '../support/faces.js'
import { writeLivenessPack } from '../support/liveness-pack.js'

const HEADER = 'presentation,type,subject,species,device,condition,frames'

const place = workplaceForAll({ COUNTERSIGN_ACCEPT_PACK: 'brought,baseline' })
beforeAll(async () => {
  await writeLivenessPack(place.path('live'), inject('modelsDir'))
  await writeLivenessPack(place.path('careful'), inject('modelsDir'), { leastCropShare: 0.95 })
  for (const name of ['ada', 'adaToday', 'grace'] as const) {
    const photo = await face(name)
    await writeFile(place.path(`${name}.jpg`), photo)
    await sharp(photo)
      .linear(0.25)
      .jpeg()
      .toFile(place.path(`${name}-dark.jpg`))
  }
  await writeFile(place.path('landscape.jpg'), await landscape())
})

async function evaluate(lines: string[], ...options: string[]) {
  await writeFile(place.path('labels.csv'), lines.join('\n'))
  return place.run(['evaluate-pad', place.path('labels.csv'), ...options])
}

const live = () => ['--pack', place.path('live')]
const PRESENTATIONS = [
  `${HEADER},reference`,
  '1,bona_fide,ada,,phone,office,ada.jpg;adaToday.jpg,',
  '2,bona_fide,grace,,phone,dim,grace-dark.jpg,',
  '3,bona_fide,grace,,laptop,office,landscape.jpg,',
  '4,attack,grace,print,phone,office,grace-dark.jpg,grace.jpg',
  '5,attack,grace,print,phone,office,landscape.jpg,grace.jpg',
  '6,attack,ada,screen,phone,office,adaToday.jpg,ada.jpg',
  '7,attack,grace,screen,phone,office,grace.jpg,ada.jpg',
]

describe('evaluate-pad', () => {
  it('measures each attack species, bona fide presentations by condition and device, and the whole system', async () => {
    const reports = ['html', 'md', 'json'].map((ending) => place.path(`report.${ending}`))
    const { code, stdout, stderr } = await evaluate(PRESENTATIONS, ...live(), '--report', ...reports)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const lines = stdout.trimEnd().split('\n')
    const view = JSON.parse(lines.at(-1)!)
    expect(view).toMatchObject({
      bona_fide: 3,
      attacks: 4,
      bpcer: 0.5,
      worst_species: 'screen',
      worst_apcer: 1,
      worst_apcer_ub95: 1,
      bona_fide_non_response: 1,
      non_responses: { face_not_found: 2 },
      species: [
        { species: 'screen', presentations: 2, accepted: 2, iapar: { presentations: 2, accepted: 1 } },
        { species: 'print', presentations: 2, non_response: 1, apcer: 0, iapar: { accepted: 0 } },
      ],
      by_condition: [
        { label: 'dim', bpcer: 1 },
        { label: 'office', bpcer: 0, non_response: 1 },
      ],
      by_device: [
        { label: 'laptop', bpcer: null },
        { label: 'phone', bpcer: 0.5 },
      ],
    })
    // An exact figure: one attack without an error shows an APCER of at most 0.95.
    expect(view.species[1].apcer_ub95).toBeCloseTo(0.95, 10)
    expect(stdout).toMatch(/^screen +2 +0 +2 +100 % +100 % +50\.00 % \(at most 97\.47 %\)$/m)
    const [html, markdown, data] = await Promise.all(reports.map((file) => readFile(file, 'utf8')))
    expect(html).toContain('<h1>Presentation attack detection with brought@')
    expect(markdown).toContain('**screen is the worst species: 2 of 2 passed (APCER 100 %)')
    for (const text of [html, markdown]) expect(text).not.toContain('ada')
    expect(JSON.parse(data!).presentations[0]).toMatchObject({ id: '1', response: 'bona_fide' })
  })

  it('prints only the line with --json', async () => {
    const { json } = await evaluate(PRESENTATIONS.slice(0, 2), ...live(), '--json')
    expect(json).toMatchObject({ bona_fide: 1, attacks: 0, bpcer: 0, worst_species: null, worst_apcer: null })
  })

  it('counts a face without the surroundings that the pack needs as a non-response', async () => {
    const { json } = await evaluate(PRESENTATIONS, '--pack', place.path('careful'), '--json')
    expect(json.non_responses).toEqual({ too_close: 5, face_not_found: 2 })
    expect(json).toMatchObject({ bpcer: null, worst_apcer: null, worst_apcer_ub95: 1 })
  })

  it('judges frames of a challenge by what they show', async () => {
    await mkdir(place.path('still'), { recursive: true })
    const photo = sharp(await face('ada'))
    const frames = await Promise.all(
      Array.from({ length: 16 }, async (_, i) => {
        // Separate files, as from a camera.
        await photo
          .clone()
          .jpeg({ quality: 70 + i })
          .toFile(place.path('still', `${i}.jpg`))
        return `still/${i}.jpg|${Math.floor(i / 4)}|${200 * i}`
      }),
    )
    const nobody = frames.map((frame) => frame.replace(/^[^|]+/, 'landscape.jpg'))
    const steps = 'frontal;turn_left;nod_up;frontal'
    const { json } = await evaluate(
      [
        `${HEADER},challenge`,
        `1,attack,ada,still,,,${frames.join(';')},${steps}`,
        `2,attack,ada,nobody,,,${nobody.join(';')},${steps}`,
      ],
      '--pack',
      'baseline',
      '--json',
    )
    expect(json).toMatchObject({
      worst_apcer: 0,
      species: [
        { species: 'still', accepted: 0, non_response: 0 },
        { species: 'nobody', apcer: null, non_response: 1 },
      ],
      non_responses: { no_face: 1 },
    })
  })

  it('warns that nothing judges a photo where the pack has no liveness network', async () => {
    const { code, error } = await evaluate(PRESENTATIONS, '--pack', 'baseline', '--json')
    expect({ code, error: error.code }).toEqual({ code: 1, error: 'no_liveness' })
    expect(error.message).toContain('baseline@1.0.0 has no liveness network')
  })

  it('names a reference without a face and a missing picture', async () => {
    const unusable = await evaluate(
      [`${HEADER},reference`, '1,attack,ada,print,,,ada.jpg,landscape.jpg'],
      ...live(),
      '--json',
    )
    expect(unusable.error).toMatchObject({
      code: 'reference_unusable',
      message: expect.stringContaining('landscape.jpg'),
    })
    const missing = await evaluate([HEADER, '1,attack,ada,print,,,nope.jpg'], ...live(), '--json')
    expect(missing.error).toMatchObject({
      code: 'system_error',
      message: expect.stringContaining('nope.jpg'),
    })
  })

  it('refuses an unknown column before it measures', async () => {
    const { code, error } = await evaluate([`${HEADER},light`, '1,attack,ada,print,,,ada.jpg,dim'], '--json')
    expect({ code, error: error.code }).toEqual({ code: 1, error: 'malformed_presentations' })
    expect(error.message).toContain('light')
  })
})

describe.skipIf(evaluationDataMissing())('evaluate-pad, on pictures of the evaluation data', () => {
  it('passes few attacks and rejects few bona fide presentations where a camera shows more than a face', async () => {
    const { columns, rows } = parseCsv(readEvaluationFile('pad/labels.csv').toString('utf8'))
    const at = (row: string[], name: string) => row[columns.indexOf(name)]!
    const pictures = rows.filter((row) => at(row, 'kind').startsWith('full-'))
    const lines = pictures.map((row, i) => {
      const isLive = at(row, 'class') === 'live'
      const species = isLive ? '' : at(row, 'species')
      return `${i},${isLive ? 'bona_fide' : 'attack'},${at(row, 'source')},${species},,${at(row, 'kind')},${i}.png`
    })
    for (const [i, row] of pictures.entries())
      await writeFile(place.path(`${i}.png`), readEvaluationFile(`pad/${at(row, 'file')}`))
    const { json } = await evaluate([HEADER, ...lines], '--pack', writeEvaluationPack(), '--json')
    expect(json).toMatchObject({ bona_fide: 11, attacks: 15, bona_fide_non_response: 0 })
    expect(json.bpcer).toBeLessThanOrEqual(1 / 11)
    const accepted = json.species.map((one: { accepted: number }) => one.accepted)
    expect(accepted.reduce((sum: number, one: number) => sum + one, 0)).toBeLessThanOrEqual(3)
  })
})
