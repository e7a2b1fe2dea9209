import { describe, expect, it } from 'vitest'
import { type PadDataError, readPresentations } from '../../tools/evaluation/pad-data.js'

const HEADER = 'presentation,type,subject,species,device,condition,frames'

const read = (...lines: string[]) => readPresentations(lines.join('\n'), '/data/labels.csv')
const refusal = (...lines: string[]) => {
  try {
    read(...lines)
  } catch (error) {
    return error as PadDataError
  }
  throw new Error('nothing was refused')
}

describe('a table of presentations', () => {
  it('a table gives each presentation its pictures, in order', () => {
    const { name, folder, presentations } = read(
      `${HEADER},reference`,
      '1,bona_fide,ada,,phone,dim,a.jpg; b.jpg,',
      '2,attack,ada,print,,,c.jpg,ada.jpg',
    )
    expect({ name, folder }).toEqual({ name: 'labels.csv', folder: '/data' })
    expect(presentations).toEqual([
      {
        id: '1',
        species: null,
        subject: 'ada',
        device: 'phone',
        condition: 'dim',
        frames: ['a.jpg', 'b.jpg'],
        reference: null,
        challenge: null,
      },
      {
        id: '2',
        species: 'print',
        subject: 'ada',
        device: 'not stated',
        condition: 'not stated',
        frames: ['c.jpg'],
        reference: 'ada.jpg',
        challenge: null,
      },
    ])
  })

  it('a table gives the steps of a challenge, and the step of each frame', () => {
    const { presentations } = read(
      `${HEADER},challenge`,
      '1,bona_fide,ada,,,,a.jpg|0|0;b.jpg|1|200,frontal;turn_left',
    )
    expect(presentations[0]).toMatchObject({
      frames: ['a.jpg', 'b.jpg'],
      challenge: {
        steps: ['frontal', 'turn_left'],
        notes: [
          { step: 0, tMs: 0 },
          { step: 1, tMs: 200 },
        ],
      },
    })
  })

  it.each([
    [[`${HEADER},colour`, '1,attack,ada,print,,,c.jpg,red'], 'Column colour is not known'],
    [
      ['presentation,type,subject,species,device,frames', '1,attack,ada,print,,c.jpg'],
      'the column condition',
    ],
    [[`${HEADER},frames`, '1,attack,ada,print,,,c.jpg,c.jpg'], 'named twice'],
    [[HEADER, ',attack,ada,print,,,c.jpg'], 'Line 2 names no presentation'],
    [[HEADER, '1,live,ada,,,,c.jpg'], 'Line 2 has type "live"'],
    [[HEADER, '1,attack,ada,,,,c.jpg'], 'Line 2 is an attack and names no species'],
    [[HEADER, '1,bona_fide,ada,print,,,c.jpg'], 'Line 2 is bona fide and names a species'],
    [[HEADER, '1,attack,ada,print,,,;'], 'Line 2 names no frame'],
    [[HEADER, '1,attack,ada,print,,,c.jpg', '1,attack,ada,print,,,d.jpg'], 'Presentation 1 is listed twice'],
    [[`${HEADER},challenge`, '1,bona_fide,ada,,,,a.jpg|0|0,jump'], 'the step "jump"'],
    [[`${HEADER},challenge`, '1,bona_fide,ada,,,,a.jpg,frontal'], 'the frame "a.jpg"'],
    [[`${HEADER},challenge`, '1,bona_fide,ada,,,,a.jpg|1|0,frontal'], 'the frame "a.jpg|1|0"'],
  ])('a malformed table is refused: %j', (lines, message) => {
    const { code, message: said } = refusal(...lines)
    expect({ code, said }).toEqual({
      code: 'malformed_presentations',
      said: expect.stringContaining(message),
    })
  })

  it('a table without a presentation is refused', () => {
    expect(refusal(HEADER)).toMatchObject({ code: 'no_presentations' })
  })
})
