import { describe, expect, it } from 'vitest'
import { readInputs } from './corpus.js'
import { fuzz } from './fuzzer.js'
import { TARGETS } from './targets.js'

describe.each(TARGETS)('the reader of $name', (target) => {
  it('takes its seeds and what once crashed it without a fault', () => {
    const inputs = [...readInputs('corpus', target.name), ...readInputs('crashes', target.name)]
    expect(inputs).not.toEqual([])
    for (const input of inputs) target.run(input)
  })

  it('takes a thousand damaged inputs without a fault', () => {
    const seeds = readInputs('corpus', target.name)
    const { inputs, crashes } = fuzz(target, { seeds, runs: 1000, seed: 4711 })
    expect(inputs).toBe(1000)
    expect(crashes).toEqual([])
  })
})

describe('the fuzzer', () => {
  it('keeps the input that a fault was found with', () => {
    const run = (input: Buffer) => {
      if (input.includes('KEY') && input.length > 4) throw new RangeError('planted')
    }
    const target = { name: 'planted', words: ['KEY'], mostBytes: 64, run }
    const { crashes } = fuzz(target, { seeds: [Buffer.from('ab')], runs: 1000, seed: 1 })
    expect(crashes.length).toBeGreaterThan(0)
    for (const { input, error } of crashes) {
      expect(error.message).toBe('planted')
      expect(() => run(input)).toThrow()
    }
  })
})
