import { expect, it } from 'vitest'
import { runOverload } from './overload.js'

it('answers every caller of a twentyfold overload, signed, and refuses with a time to retry', async () => {
  const { refused, unanswered, unsigned, problems, kept_ratio } = await runOverload({
    seconds: 3,
    workers: 1,
  })
  expect({ unanswered, unsigned, problems }).toEqual({ unanswered: 0, unsigned: 0, problems: [] })
  expect(refused).toBeGreaterThan(0)
  // At least one caller was admitted. The longer form of the campaign checks how many.
  expect(kept_ratio).toBeGreaterThan(0)
})
