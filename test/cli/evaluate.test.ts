import { writeFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Workplace, workplace } from '../support/command.js'
import { face, groupPhoto, landscape } from '../support/faces.js'

let place: Workplace
beforeAll(async () => {
  place = await workplace()
  for (const name of ['ada', 'adaToday', 'grace', 'mary'] as const)
    await writeFile(place.path(`${name}.jpg`), await face(name))
  await writeFile(place.path('landscape.jpg'), await landscape())
})
afterAll(() => place?.dispose())

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

  it('counts a photo that cannot be used as a miss, and names it', async () => {
    const result = await evaluate(['ada.jpg,landscape.jpg,1', 'ada.jpg,grace.jpg,0'])
    const view = JSON.parse(result.stdout)
    expect(view.refused).toEqual({ 'landscape.jpg': 'face_not_found' })
    expect(view.configured.measured_fnmr).toBe(1)
  })

  it('takes the largest of several faces where it is asked to', async () => {
    await writeFile(place.path('group.jpg'), groupPhoto())
    const refused = async (...options: string[]) =>
      JSON.parse((await evaluate(['ada.jpg,group.jpg,0', 'ada.jpg,adaToday.jpg,1'], ...options)).stdout)
        .refused
    expect(await refused()).toEqual({ 'group.jpg': 'multiple_faces' })
    expect(await refused('--largest-face')).toEqual({})
  })

  it('says which file it cannot read', async () => {
    const { code, error } = await place.run(['evaluate', place.path('nope.csv'), '--json'])
    expect(code).toBe(1)
    expect(error.code).toBe('file_unreadable')
    expect(error.message).toContain(`Cannot read ${place.path('nope.csv')}: `)
  })

  it('refuses a file without the columns', async () => {
    await writeFile(place.path('pairs.csv'), 'x,y\n1,2')
    const result = await place.run(['evaluate', place.path('pairs.csv'), '--json'])
    expect(result.code).toBe(1)
    expect(JSON.parse(result.stderr)).toMatchObject({ error: { code: 'malformed_pairs' } })
  })
})
