/** Comments, messages and test titles are whole sentences in plain words. */
import { describe, expect, it } from 'vitest'
import { findHardWords, hardWordsIn, roomOf } from './support/plain-words.js'

/**
 * Findings that are right as they are: a licence's own words in manifests of packs, and a variable of a benchmark. Lower a number
 * when one goes; never raise one.
 */
const ALLOWED: Record<string, number> = { bench: 1, models: 3 }

describe('comments, messages and test titles', () => {
  it('contain no fragments and no hard words, room by room', () => {
    const counts: Record<string, number> = {}
    for (const finding of findHardWords()) counts[roomOf(finding)] = (counts[roomOf(finding)] ?? 0) + 1
    const raised = Object.entries(counts).filter(([room, count]) => count > (ALLOWED[room] ?? 0))
    expect(raised.map(([room, count]) => `${room}: ${count}, allowed ${ALLOWED[room] ?? 0}`)).toEqual([])
  })

  it.each([
    ['src/a.ts', '/** Of whoever was killed at it. */', 'comment'],
    ['src/a.ts', '// As long as the duty is ours.', 'comment'],
    ['src/a.ts', "log.info('tries anew in a second')", 'message'],
    ['test/a.test.ts', "it('of any other text is refused', () => {})", 'title'],
    ['test/a.test.ts', "it.each(CASES)('where %s is newer', () => {})", 'title'],
  ])('are found in %s: %s', (file, text, kind) => {
    expect(hardWordsIn(file, text).map((finding) => finding.kind)).toEqual([kind])
  })

  it('are not found in whole sentences, nor in what only looks like a comment', () => {
    const text = `/** Deletes partial exports left by a process that was killed. */
const url = 'http://127.0.0.1/ of'`
    expect(hardWordsIn('src/a.ts', text)).toEqual([])
  })
})
