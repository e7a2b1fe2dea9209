import { it } from 'vitest'
import { overPostgres } from '../support/postgres.js'
import { expectFlawless } from './expect-flawless.js'
import { obstacle } from './obstacle.js'

overPostgres(() => {
  it.skipIf(obstacle() !== null)(
    'two nodes lose nothing acknowledged, and execute nothing twice, when they, their connections and the server are killed',
    () =>
      expectFlawless({
        seed: 14,
        callers: 1,
        isServerAlone: true,
        faults: ['connections cut', 'answers of COMMIT lost', 'node killed', 'server killed'],
      }),
  )
})
