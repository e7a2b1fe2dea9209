import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { packageFile } from '../../src/lib/package-root.js'
import { FMRS } from '../../tools/evaluation/evaluation.js'
import { ruleOfThree } from '../../tools/evaluation/intervals.js'

it('the guide states how many people a rate needs as the evaluation reckons', () => {
  const page = readFileSync(packageFile('docs', 'guides', 'accuracy.md'), 'utf8')
  const [, table] = /<!-- people -->\n([\s\S]*)<!-- \/people -->/.exec(page)!
  const rows = table!
    .trim()
    .split('\n')
    .slice(2)
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim().replaceAll(',', '')),
    )
  expect(rows.map(([fmr]) => Number(fmr))).toEqual(FMRS)
  for (const [fmr, fewest, fewestPairs, people, pairs] of rows.map((row) => row.map(Number))) {
    const pairsOf = (n: number) => (n * (n - 1)) / 2
    expect([fewestPairs, pairs]).toEqual([pairsOf(fewest!), pairsOf(people!)])
    expect(ruleOfThree(pairsOf(fewest!))).toBeLessThanOrEqual(fmr!)
    expect(ruleOfThree(pairsOf(fewest! - 1))).toBeGreaterThan(fmr!)
    expect(pairsOf(people!) * fmr!).toBeGreaterThanOrEqual(30 - 1e-9)
    expect(pairsOf(people! - 1) * fmr!).toBeLessThan(30)
  }
})
