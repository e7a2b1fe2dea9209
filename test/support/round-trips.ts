/** Counts what the code under test asks PostgreSQL for, and how often it has to wait for an answer before it can go on. */
import pg from 'pg'

export interface Trips {
  /** The longest chain of statements of which each was sent after the one before was answered. */
  inSequence: number
  statements: number
}

interface Asked {
  sent: number
  answered: number
}

/** What services ask by the clock, a second or less apart; and what is sent when the answer is on its way already. */
const BESIDE_NAMES = ['renew', 'take-duty', 'keys', 'release']
const BESIDE = /FROM keyring|FROM webhook_endpoint JOIN tenant/

/**
 * Of all stores of this process, as long as it runs.
 * @returns what to call before and after
 */
export function watchRoundTrips(): { begin(): void; end(): Trips; stop(): void } {
  // biome-ignore lint/suspicious/noExplicitAny: pg has many signatures for one function
  const prototype = pg.Client.prototype as any
  const { query } = prototype
  let asked: Asked[] = []
  let now = 0
  prototype.query = function (this: pg.Client, ...parameters: unknown[]) {
    const answer = query.apply(this, parameters)
    if (isBeside(parameters[0] as string | pg.QueryConfig)) return answer
    const one: Asked = { sent: ++now, answered: Number.POSITIVE_INFINITY }
    asked.push(one)
    const note = () => {
      one.answered = ++now
    }
    answer.then(note, note)
    return answer
  }
  return {
    begin() {
      asked = []
    },
    end() {
      const waited = asked.filter(({ answered }) => answered < Number.POSITIVE_INFINITY)
      return { inSequence: longestChain(waited), statements: waited.length }
    },
    stop() {
      prototype.query = query
    },
  }
}

function isBeside(query: string | pg.QueryConfig): boolean {
  const { name = '', text } = typeof query === 'string' ? { text: query } : query
  return BESIDE_NAMES.includes(name) || BESIDE.test(text)
}

/** Of intervals that do not overlap: whichever ends first leaves the most to the others. */
function longestChain(intervals: Asked[]): number {
  let length = 0
  let end = 0
  for (const { sent, answered } of intervals.toSorted((a, b) => a.answered - b.answered))
    if (sent > end) {
      length++
      end = answered
    }
  return length
}
