import { writeFile } from 'node:fs/promises'
import { beforeAll, describe, expect, it } from 'vitest'
import { type CommandResult, workplaceForAll } from '../support/command.js'
import { base64, face, groupPhoto, landscape } from '../support/faces.js'
import { serviceOfFile } from '../support/service.js'

const place = workplaceForAll()
const running = await serviceOfFile({ COUNTERSIGN_LOCKOUT_ATTEMPTS: '0' })
const production = await running.production(await running.tenant())
const photos = {} as Record<'ada' | 'adaToday' | 'grace', Buffer>
const file = (name: string) => place.path(name)

beforeAll(async () => {
  for (const name of ['ada', 'adaToday', 'grace'] as const) {
    photos[name] = await face(name)
    await writeFile(file(`${name}.jpg`), photos[name])
  }
  await writeFile(file('group.jpg'), groupPhoto())
  await writeFile(file('landscape.jpg'), await landscape())
  await writeFile(file('text.jpg'), 'not an image')
  await writeFile(file('cut.jpg'), photos.ada.subarray(0, photos.ada.length / 2))
  const enrolled = await production.enroll({ user_id: 'ada', image: base64(photos.ada) })
  expect(enrolled.status).toBe(201)
})
/** The command's results for Ada and others, each asked for once. */
const comparisons = new Map<string, Promise<CommandResult>>()
function comparedWithAda(other: 'adaToday' | 'grace'): Promise<CommandResult> {
  const result =
    comparisons.get(other) ?? place.run(['compare', file('ada.jpg'), file(`${other}.jpg`), '--json'])
  comparisons.set(other, result)
  return result
}

const PAIRS = [
  { other: 'adaToday', same: true, verdict: 'approved' },
  { other: 'grace', same: false, verdict: 'rejected' },
] as const

describe('compare', () => {
  for (const { other, same, verdict } of PAIRS)
    it(`gives the same score as the API for ada and ${other}, to the last digit`, async () => {
      const compared = await comparedWithAda(other)
      expect(compared).toMatchObject({ code: same ? 0 : 3, stderr: '' })
      const verified = await production.verify({
        user_id: 'ada',
        image: base64(photos[other]),
        action: 'login',
      })
      expect(verified.body.verdict).toBe(verdict)
      const { score, threshold, fmr, model } = verified.body
      expect(compared.json).toMatchObject({ same, score, threshold, fmr, model })
    })

  it('shows both faces with box, landmarks and quality, and how long each stage took', async () => {
    const { json } = await comparedWithAda('adaToday')
    expect(Object.keys(json).sort()).toEqual(
      ['same', 'score', 'threshold', 'fmr', 'fmr_basis', 'model', 'faces', 'timings_ms'].sort(),
    )
    expect(json.faces).toHaveLength(2)
    for (const { box, quality, liveness } of json.faces) {
      expect(Object.keys(box)).toEqual(['x', 'y', 'width', 'height'])
      expect(box.width).toBeGreaterThan(80)
      expect(quality.score).toBeGreaterThan(0)
      expect(liveness).toMatchObject({ checked: false, passed: null })
    }
    expect(json.timings_ms).toMatchObject({ decode: expect.any(Number), embed: expect.any(Number) })
  })

  it('shows people the same figures', async () => {
    const same = await place.run(['compare', file('ada.jpg'), file('adaToday.jpg')])
    expect(same.code).toBe(0)
    expect(same.stdout).toMatch(/^Verdict +same person$/m)
    const other = await place.run(['compare', file('ada.jpg'), file('grace.jpg')])
    // Scripts tell failures from verdicts: errors end with 1, wrong usage with 2.
    expect(other.code).toBe(3)
    expect(other.stdout).toMatch(/^Verdict +not the same person$/m)
  })

  it('is stricter for a smaller false match rate', async () => {
    const threshold = async (fmr: string) =>
      (await place.run(['compare', file('ada.jpg'), file('adaToday.jpg'), '--fmr', fmr, '--json'])).json
    const loose = await threshold('1e-2')
    const strict = await threshold('1e-3')
    expect(loose.score).toBe(strict.score)
    expect(strict.threshold).toBeGreaterThan(loose.threshold)
    expect(strict.fmr).toBe(1e-3)
  })

  it('reads its policy from the same variables as the service', async () => {
    const { error } = await place.run(['compare', file('ada.jpg'), file('adaToday.jpg'), '--json'], {
      COUNTERSIGN_MIN_FACE_PX: '2000',
    })
    expect(error.code).toBe('face_too_small')
  })

  const UNUSABLE = {
    'text.jpg': 'image_unreadable',
    'cut.jpg': 'image_unreadable',
    'landscape.jpg': 'face_not_found',
    'group.jpg': 'multiple_faces',
    'missing.jpg': 'file_unreadable',
  }
  for (const [name, code] of Object.entries(UNUSABLE)) {
    it(`fails with ${code} for ${name}`, async () => {
      const result = await place.run(['compare', file('ada.jpg'), file(name), '--json'])
      expect(result).toMatchObject({ code: 1, stdout: '', error: { code } })
    })
  }

  it('names the file that cannot be used', async () => {
    const result = await place.run(['compare', file('ada.jpg'), file('landscape.jpg')])
    expect(result).toMatchObject({ code: 1, stdout: '' })
    expect(result.stderr).toMatch(
      /^error: [^\n]*landscape\.jpg[^\n]*\nWhat to do: [^\n]+\nMore about it: [^\n]+\n$/,
    )
  })

  for (const fmr of ['0', '1', 'often'])
    it(`refuses --fmr ${fmr} as wrong usage`, async () => {
      const result = await place.run(['compare', file('ada.jpg'), file('grace.jpg'), '--fmr', fmr, '--json'])
      expect(result).toMatchObject({ code: 2, stdout: '', error: { code: 'invalid_option' } })
    })
})
