/** The words for groups of people for which a rate is not proven. */
import { describe, expect, it } from 'vitest'
import { describeFault, type GroupFault, nameOf, summarizeFaults } from '../../../models/pack/group-fault.js'

const tooFew = (name: string, people: number): GroupFault => ({
  name,
  people,
  isTooSmall: true,
  measuredFmr: 0,
})
const measured = (name: string, measuredFmr: number | null): GroupFault => ({
  name,
  people: 400,
  isTooSmall: false,
  measuredFmr,
})

describe('a group', () => {
  it.each([
    ['sex', 'f', 'women'],
    ['sex', 'm', 'men'],
    ['sex', 'x', 'people of sex x'],
    ['ethnicity', 'african', 'people of ethnicity african'],
    ['ethnicity × sex', 'caucasian × m', 'men of ethnicity caucasian'],
    ['age × ethnicity × sex', '60+ × asian × f', 'women of age 60+ and ethnicity asian'],
  ])('by %s, %s, is called %s', (label, group, name) => {
    expect(nameOf({ label, group })).toBe(name)
  })
})

describe('the faults of groups', () => {
  it.each([
    [tooFew('women', 14), '14 women are too few to show the rate'],
    [measured('women', 0.0001597), 'women were taken for one another at a rate of 1.6 in 10,000'],
    [measured('men', 0.5), 'men were taken for one another at a rate of 5 in 10'],
    [measured('men', 2e-6), 'men were taken for one another at a rate of 2 in 1,000,000'],
    [measured('men', null), 'the rate among men was not measured'],
  ])('are described one by one (case %#)', (fault, text) => {
    expect(describeFault(fault)).toBe(text)
  })

  it('are summarized with the worst measured rate, in any order', () => {
    const faults = [tooFew('men', 3), measured('men of ethnicity asian', 2e-4), measured('women', 1e-3)]
    for (const given of [faults, faults.toReversed()])
      expect(summarizeFaults(given)).toBe(
        'not proven for 3 groups of people (worst: women, measured 1 in 1,000)',
      )
  })

  it('are summarized with the smallest group where no rate was measured', () => {
    expect(summarizeFaults([tooFew('women', 14)])).toBe(
      'not proven for 1 group of people (smallest: 14 women)',
    )
    expect(summarizeFaults([])).toBe(null)
  })
})
