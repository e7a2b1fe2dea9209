import { it } from 'vitest'
import { expectFlawless } from './expect-flawless.js'
import { obstacle } from './obstacle.js'

it.skipIf(obstacle() !== null)(
  'two nodes lose nothing acknowledged, and execute nothing twice, when nodes, connections or servers stall or stop answering',
  () =>
    expectFlawless({
      seconds: 20,
      seed: 14,
      callers: 2,
      faults: [
        'black hole',
        'replies swallowed',
        'node stands still',
        'server stands still',
        'backend killed',
      ],
    }),
)
