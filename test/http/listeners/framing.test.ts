/** Framing that both parsers refuse on their own, so that no request over a socket shows whether our own rule holds. */
import { expect, it } from 'vitest'
import { readHeaders } from '../../../src/http/listeners/framing.js'

it.each([
  ['without a length', undefined, true],
  ['with a length', '0', true],
  ['with an empty length', '', false],
])('headers %s are served: %s, %s', (_, length, isServed) => {
  const headers = readHeaders((add) => {
    add('host', 'api.example.com')
    if (length !== undefined) add('content-length', length)
  })
  expect(headers !== null).toBe(isServed)
})
