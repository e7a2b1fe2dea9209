import fc from 'fast-check'
import { pino } from 'pino'
import { afterAll, describe, expect, it } from 'vitest'
import { Tracing } from '../../../src/features/tracing/tracing.js'
import type { IncomingRequest } from '../../../src/http/listeners/listener.js'
import { check, damaged } from '../../support/properties.js'

// Port 1 of this machine: nobody listens, and nothing here asks for the spans.
const tracing = new Tracing('http://127.0.0.1:1', 'test', pino({ level: 'silent' }))
afterAll(() => tracing.stop())

const hex = (digits: number) => fc.stringMatching(new RegExp(`^[0-9a-f]{${digits}}$`))
const VALID = /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/

/** `traceresponse` to a request with these headers. */
function answer(headers: Record<string, string>): string {
  const request: Pick<IncomingRequest, 'method' | 'headers' | 'encrypted'> = {
    method: 'GET',
    headers,
    encrypted: false,
  }
  return tracing.begin(request as IncomingRequest, '/v1/health').response
}

describe('traceparent', () => {
  const traceparent = fc
    .tuple(hex(32), hex(16), fc.constantFrom('00', '01'))
    .map(([trace, span, flags]) => `00-${trace}-${span}-${flags}`)

  it('continues a valid traceparent, and respects its sampling flag', () => {
    check(
      fc.property(traceparent, (header) => {
        fc.pre(VALID.test(header))
        const [, trace, span, flags] = header.split('-')
        const [, ownTrace, ownSpan, ownFlags] = answer({ traceparent: header }).split('-')
        expect([ownTrace, ownFlags]).toEqual([trace, flags])
        expect(ownSpan).not.toBe(span)
      }),
    )
  })

  it('begins a trace where traceparent is invalid, with any tracestate', () => {
    const text = fc.oneof(damaged(traceparent), fc.string({ unit: 'binary' }))
    check(
      fc.property(text, fc.string({ unit: 'binary' }), (header, tracestate) => {
        const own = answer({ traceparent: header, tracestate })
        expect(own).toMatch(VALID)
        // Later versions of the header may be read as this one: a continued trace must be one that the header names.
        if (!/^[0-9a-f]{2}-[0-9a-f]{32}-/.test(header.trim())) expect(header).not.toContain(own.split('-')[1])
      }),
      1000,
    )
  })
})
