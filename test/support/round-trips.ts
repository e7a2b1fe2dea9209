/** Counts what a call asks PostgreSQL for, and how often it has to wait for an answer before it can go on. */
import { AsyncLocalStorage } from 'node:async_hooks'
import pg from 'pg'
import { ApiServer } from '../../src/http/api-server.js'

export interface Trips {
  /** The longest chain of statements of which each was sent after the one before was answered. */
  inSequence: number
  statements: number
}

/** A statement as the pool passes it to its client. */
interface Sent {
  name?: string
}

interface Asked {
  sent: number
  answered: number
}

/** Statements that are sent after the answer: no caller waits for them. */
const AFTERWARDS = ['release']

/** Counts the round trips of calls. Periodic work of the services is not counted: it runs in no call's asynchronous context. */
export class RoundTripCounter {
  private readonly calls = new AsyncLocalStorage<Asked[]>()
  private asked: Asked[] = []
  private now = 0
  private readonly restore: Array<() => void> = []

  constructor() {
    const { calls, note } = this
    this.wrap(ApiServer.prototype, 'answer', (answer, self, parameters) =>
      calls.run(this.asked, () => Reflect.apply(answer, self, parameters)),
    )
    this.wrap(pg.Client.prototype, 'query', (query, self, parameters) => {
      const sent = parameters[0] as Sent
      const asked = calls.getStore()
      const answer: Promise<unknown> = Reflect.apply(query, self, parameters)
      if (asked && !AFTERWARDS.includes(sent.name ?? '')) note(asked, answer)
      return answer
    })
  }

  async count(call: () => Promise<unknown>): Promise<Trips> {
    const asked: Asked[] = []
    this.asked = asked
    await this.calls.run(asked, call)
    const answered = asked.filter((one) => one.answered < Number.POSITIVE_INFINITY)
    return { inSequence: longestChain(answered), statements: answered.length }
  }

  stop(): void {
    for (const restore of this.restore.splice(0)) restore()
  }

  private readonly note = (asked: Asked[], answer: Promise<unknown>): void => {
    const one: Asked = { sent: ++this.now, answered: Number.POSITIVE_INFINITY }
    asked.push(one)
    const answered = () => {
      one.answered = ++this.now
    }
    answer.then(answered, answered)
  }

  private wrap(
    prototype: object,
    name: string,
    wrapper: (
      // biome-ignore lint/complexity/noBannedTypes: the type of the method is unknown
      original: Function,
      self: unknown,
      parameters: unknown[],
    ) => unknown,
  ): void {
    const original = Reflect.get(prototype, name)
    const wrapped = function (this: unknown, ...parameters: unknown[]) {
      return wrapper(original, this, parameters)
    }
    Reflect.set(prototype, name, wrapped)
    this.restore.push(() => Reflect.set(prototype, name, original))
  }
}

/** Length of the longest chain of intervals that do not overlap. The interval that ends first leaves the most room for others. */
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
