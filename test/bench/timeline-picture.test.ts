/** The picture of one call shows what its table says. */
import { expect, it } from 'vitest'
import { drawTimeline } from '../../bench/lib/timeline-picture.js'

it('draws a bar for each span, in the row of its thread, with the number of the table', () => {
  const span = { name: 'work', fromMs: 0, toMs: 4, isComputing: false }
  const picture = drawTimeline('One call', [
    { ...span, thread: 'main thread' },
    { ...span, thread: 'worker', fromMs: 4, toMs: 10, isComputing: true },
  ])
  const bars = [...picture.matchAll(/<rect[^>]*fill="(#2364aa|#f2a541)"[^>]*>/g)]
  expect(bars.map(([, colour]) => colour)).toEqual(['#f2a541', '#2364aa'])
  const rows = bars.map(([bar]) => / y="([\d.]+)"/.exec(bar)![1])
  expect(new Set(rows).size).toBe(2)
  for (const number of ['1', '2']) expect(picture).toContain(`>${number}</text>`)
})
