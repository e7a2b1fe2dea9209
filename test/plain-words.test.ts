/** Comments, messages and test titles that are hard to read may only become fewer. */
import { describe, expect, it } from 'vitest'
import { findHardWords, hardWordsIn, roomOf } from './support/plain-words.js'

/** How many each room still has. Lower a number when you have rewritten some; never raise one. */
const STILL_THERE: Record<string, number> = {
  bench: 137,
  models: 66,
  'src/biometrics': 116,
  'src/capture': 0,
  'src/capture-page': 1,
  'src/client': 87,
  'src/dashboard': 0,
  'src/evaluation': 42,
  'src/http': 83,
  'src/lib': 16,
  'src/storage': 193,
  test: 16,
  'test/bench': 7,
  'test/biometrics': 52,
  'test/capture': 0,
  'test/capture-page': 0,
  'test/chaos': 36,
  'test/client': 60,
  'test/dashboard': 0,
  'test/evaluation': 12,
  'test/faults': 32,
  'test/fuzz': 6,
  'test/hostile': 5,
  'test/http': 77,
  'test/lib': 2,
  'test/liveness': 36,
  'test/models': 28,
  'test/powerloss': 26,
  'test/storage': 109,
  'test/support': 63,
}

describe('comments, messages and test titles', () => {
  it('contain no more fragments and hard words in any room than before', () => {
    const counts: Record<string, number> = {}
    for (const finding of findHardWords()) counts[roomOf(finding)] = (counts[roomOf(finding)] ?? 0) + 1
    const raised = Object.entries(counts).filter(([room, count]) => count > (STILL_THERE[room] ?? 0))
    expect(raised.map(([room, count]) => `${room}: ${count}, allowed ${STILL_THERE[room] ?? 0}`)).toEqual([])
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
