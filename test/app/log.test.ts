/** The form of the service's log lines. */
import { pino } from 'pino'
import { expect, it } from 'vitest'
import { LOG_FORM } from '../../src/app/log.js'
import { StoreUnavailableError } from '../../src/storage/store.js'

const logged = (write: (log: pino.Logger) => void) => {
  const lines: string[] = []
  write(pino({ base: null, ...LOG_FORM }, { write: (line: string) => void lines.push(line) }))
  return JSON.parse(lines[0]!)
}

it('names the level, and the time as RFC 3339', () => {
  expect(logged((log) => log.warn({ a: 1 }, 'so it is'))).toEqual({
    level: 'warn',
    time: expect.stringMatching(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/),
    a: 1,
    msg: 'so it is',
  })
})

it('names the cause of a foreseen error once and without a stack; an unforeseen error has its stack', () => {
  const cause = new Error('it can only be read: it is a standby.')
  const foreseen = new StoreUnavailableError(`PostgreSQL: ${cause.message}`, { cause })
  expect(logged((log) => log.error({ err: foreseen })).err).toEqual({
    type: 'StoreUnavailableError',
    code: 'store_unavailable',
    message: 'PostgreSQL: it can only be read: it is a standby.',
  })
  const vague = new StoreUnavailableError('PostgreSQL does not answer', { cause })
  expect(logged((log) => log.error({ err: vague })).err.cause).toBe(cause.message)
  expect(logged((log) => log.error({ err: new TypeError('x is undefined') })).err.stack).toContain('log.test')
})
