/** The figures that README and documents show: from the kept results, of the default pack, and not outdated. */
import { describe, expect, it } from 'vitest'
import { changedShare, ENGINE_ROOMS, measuredCodeOf } from '../../bench/lib/measured-code.js'
import { generatedSource } from '../../tools/generators/docs.js'
import { withFigures } from '../../tools/generators/figures/markers.js'
import { figuresOf, pagesWithFigures, readPage } from '../../tools/generators/figures/pages.js'
import {
  outdatedResults,
  readResult,
  readResults,
  resultsOfOtherPacks,
} from '../../tools/generators/figures/results.js'

const RESULTS = readResults()
const FIGURES = figuresOf(RESULTS)

describe('the documents', () => {
  it.each(pagesWithFigures())(
    '%s shows the figures of the kept results (`npm run docs` writes them)',
    (page) => {
      const made = withFigures(readPage(page), FIGURES)
      expect(generatedSource(page, made)).toBe(made)
    },
  )
})

describe('README.md', () => {
  const SPEED = /\d[\d.,]*\s?(?:ms|MiB)\b|\d[\d.,]* (?:calls|verifies|verifications) a second/

  it('has no time, memory or rate that somebody wrote by hand', () => {
    const byHand = readPage('README.md')
      .replace(/^```[\s\S]*?^```/gm, '')
      .replace(/<!-- figures: [\s\S]*?<!-- \/figures -->/g, '')
    expect(SPEED.exec('It takes 16.2 ms.')?.[0]).toBe('16.2 ms')
    expect(SPEED.exec(byHand)).toBeNull()
  })
})

describe('a marker', () => {
  const figures = { speed: '| a |\n| b |', 'verify-p50': '16.2 ms' }

  it('takes lines of its own if it ends its line, and else a figure inside its line', () => {
    const page =
      'It takes <!-- figures: verify-p50 -->1 ms<!-- /figures -->.\n\n<!-- figures: speed -->\nold\n<!-- /figures -->\n'
    expect(withFigures(page, figures)).toBe(
      'It takes <!-- figures: verify-p50 -->16.2 ms<!-- /figures -->.\n\n<!-- figures: speed -->\n| a |\n| b |\n<!-- /figures -->\n',
    )
  })

  it.each([
    [
      'of an unknown figure',
      'A <!-- figures: verify-p5 -->1<!-- /figures -->',
      'There is no figure verify-p5.',
    ],
    ['without an end', 'A <!-- figures: speed --> b', 'Each "figures: …" needs one'],
    ['without a beginning', 'A <!-- /figures --> b', 'Each "figures: …" needs one'],
    [
      'inside another',
      'A <!-- figures: speed --><!-- figures: speed --><!-- /figures --><!-- /figures -->',
      'Each "figures: …"',
    ],
    ['for lines inside a line', 'A <!-- figures: speed -->1<!-- /figures -->', 'has several lines'],
    [
      'that begins a line of prose',
      '<!-- figures: verify-p50 -->1<!-- /figures --> is quick',
      'begins a line',
    ],
  ])('is refused %s', (_, page, message) => {
    expect(() => withFigures(page, figures)).toThrow(message)
  })
})

describe('the results', () => {
  it('name the pack that a new installation serves', () => {
    expect(resultsOfOtherPacks({ ...RESULTS, soak: readResult('soak') })).toEqual([])
  })

  it('fail with another pack, with the command that measures again', () => {
    const { latency } = RESULTS
    expect(resultsOfOtherPacks({ latency: { ...latency!, model: 'baseline@1.0.0' } })).toEqual([
      expect.stringMatching(/^bench\/results\/latency\.json is of baseline@1\.0\.0, .*npm run bench -- all/),
    ])
  })

  it('come from nearly the same code as today', () => {
    expect(outdatedResults(RESULTS)).toEqual([])
  })

  it('fail when too much of the code has changed, with the share, the limit and the command that measures again', () => {
    const { latency } = RESULTS
    // The engine's code only: the rest of the service has come since.
    const measured_code = { ...measuredCodeOf(ENGINE_ROOMS), rooms: latency!.measured_code.rooms }
    expect(outdatedResults({ latency: { ...latency!, measured_code } })).toEqual([
      expect.stringMatching(
        /^bench\/results\/latency\.json is outdated: \d\d % of the lines of .* have changed since, and at most 20 % may\. .*npm run bench -- all/,
      ),
    ])
  })

  it('count a line of code as changed, a comment or an indentation not, and the order of lines not', () => {
    const code = measuredCodeOf(['src/lib'])
    expect(changedShare(code, code)).toBe(0)
    const sample = code.sample.split(' ')
    expect(changedShare(code, { ...code, sample: sample.slice(1).join(' ') })).toBeCloseTo(1 / sample.length)
    expect(changedShare(code, { ...code, sample: 'ffffffff' })).toBe(1)
  })

  it('count no line as changed that has moved to another folder', () => {
    const code = measuredCodeOf(['src/lib'])
    const [first, ...others] = code.sample.split(' ')
    const now = { ...code, sample: others.join(' ') }
    expect(changedShare(code, now, { ...code, sample: `${first} ffffffff` })).toBe(0)
  })
})
