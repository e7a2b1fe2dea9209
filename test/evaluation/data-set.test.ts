import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { parseCsv } from '../../tools/evaluation/csv.js'
import { readPairs, readPeople } from '../../tools/evaluation/data-set.js'
import { readGroups } from '../../tools/evaluation/people-groups.js'
import { temporaryFolder } from '../support/temporary-folder.js'

describe('a table', () => {
  it('reads tables as spreadsheets write them', () => {
    expect(parseCsv('\uFEFFA,"b, c",d\r\n"say ""hi""",,x\r\n\r\n,2,\r\n')).toEqual({
      columns: ['a', 'b, c', 'd'],
      rows: [
        ['say "hi"', '', 'x'],
        ['', '2', ''],
      ],
    })
  })
})

describe('a list of pairs', () => {
  const pairs = (...lines: string[]) => readPairs(['a,b,same', ...lines].join('\n'), '/data/pairs.csv')

  it('identifies people by chains of genuine pairs', () => {
    const { people, photos } = pairs('1.jpg,2.jpg,1', '3.jpg,2.jpg,true', '4.jpg,1.jpg,0')
    expect(people).toEqual(['1.jpg', '4.jpg'])
    expect(photos.map(({ path, person }) => [path, person])).toEqual([
      ['1.jpg', 0],
      ['2.jpg', 0],
      ['3.jpg', 0],
      ['4.jpg', 1],
    ])
  })

  it('refuses a list of pairs that contradicts itself', () => {
    expect(() => pairs('1.jpg,2.jpg,1', '2.jpg,3.jpg,1', '1.jpg,3.jpg,0')).toThrow(
      '1.jpg and 3.jpg are listed as two people, but other pairs join them as one.',
    )
  })

  it('refuses a list with half a pair, naming its line', () => {
    expect(() => pairs('1.jpg,2.jpg,1', '1.jpg')).toThrow('Line 3 lacks a photo.')
  })
})

describe('a folder of people', () => {
  const folder = temporaryFolder()
  beforeAll(async () => {
    for (const file of [
      'bo/2.PNG',
      'bo/1.jpg',
      'al/2024-13-01.jpg',
      'al/2021-05-03 b.webp',
      'al/notes.txt',
      'empty/x.txt',
    ]) {
      await mkdir(join(folder, file, '..'), { recursive: true })
      await writeFile(join(folder, file), '')
    }
    await writeFile(join(folder, 'groups.csv'), 'person,sex,age\nal,f,old\nbo,f,\nzed,m,old\n')
  })

  it('has a person for each folder with photos, in order', async () => {
    const { people, photos, pairs } = await readPeople(folder)
    expect({ people, pairs }).toEqual({ people: ['al', 'bo'], pairs: null })
    expect(photos.map(({ path, person }) => [path, person])).toEqual([
      ['al/2021-05-03 b.webp', 0],
      ['al/2024-13-01.jpg', 0],
      ['bo/1.jpg', 1],
      ['bo/2.PNG', 1],
    ])
  })

  it('dates photos by their names if those contain a day', async () => {
    const [dated, wrong, undated] = (await readPeople(folder)).photos
    expect(dated!.takenAt).toBe(Date.UTC(2021, 4, 3))
    expect([wrong!.takenAt, undated!.takenAt]).toEqual([null, null])
  })

  it('groups people by labels, singly and together; people without a label or photos are in no group', async () => {
    const data = await readPeople(folder)
    const groups = readGroups('person,sex,age\nal,f,old\nbo,f,\nzed,m,old\n', data)
    expect(groups.map(({ label, group, people, has }) => [label, group, people, [...has]])).toEqual([
      ['sex', 'f', 2, [1, 1]],
      ['age', 'old', 1, [1, 0]],
      ['sex × age', 'f × old', 1, [1, 0]],
    ])
  })

  it('refuses labels if nobody is labeled, or a label names nobody', async () => {
    const data = await readPeople(folder)
    expect(() => readGroups('person,sex\nzed,m\n', data)).toThrow('Nobody in the column person')
    expect(() => readGroups('name\nal\n', data)).toThrow('The first line must name')
  })

  it('refuses a folder with fewer than two people', async () => {
    await expect(readPeople(join(folder, 'al'))).rejects.toMatchObject({ code: 'no_photos' })
  })
})
