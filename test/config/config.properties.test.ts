import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseDuration } from '../../src/cli/lib/duration.js'
import { UsageError } from '../../src/cli/lib/output.js'
import { ConfigError, loadConfig, parseRate, SETTINGS } from '../../src/config/config.js'
import { check, damaged } from '../support/properties.js'

/** The parsed value, or null for a ConfigError. Other errors are thrown on. */
function attempt<T>(kind: typeof ConfigError | typeof UsageError, parse: () => T): T | null {
  try {
    return parse()
  } catch (error) {
    if (!(error instanceof kind)) throw error
    return null
  }
}

const listen = (address: string) =>
  attempt(ConfigError, () => loadConfig({ COUNTERSIGN_PRODUCTION_LISTEN: address }).productionListen)

describe('a setting', () => {
  // Parsing does not read files, so files need not exist here.
  const settings = Object.values(SETTINGS).filter(
    ({ variable }) => !/_(TLS_CERT|TLS_KEY|CONFIG)$/.test(variable),
  )

  it('is read from any text, or refused with its name', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      damaged(fc.constantFrom(...settings.map(({ fallback }) => fallback ?? '1'))),
      fc.double().map(String),
    )
    check(
      fc.property(fc.constantFrom(...settings), text, ({ variable }, value) => {
        try {
          loadConfig({ [variable]: value })
        } catch (error) {
          expect(error).toBeInstanceOf(ConfigError)
          expect((error as ConfigError).message).toContain(variable)
        }
      }),
      1000,
    )
  })
})

describe('a listen address', () => {
  const host = fc.oneof(
    fc.ipV4(),
    fc.domain(),
    fc.ipV6().filter((address) => !address.includes('.')),
  )

  it('consists of host and port', () => {
    check(
      fc.property(host, fc.integer({ min: 0, max: 99_999 }), (name, port) => {
        const isIpv6 = name.includes(':')
        const expected = port > 65_535 ? null : { host: name, port }
        expect(listen(isIpv6 ? `[${name}]:${port}` : `${name}:${port}`)).toEqual(expected)
        if (isIpv6) expect(listen(`${name}:${port}`)).toBeNull()
      }),
    )
  })

  it('is parsed completely or refused when its text is damaged', () => {
    check(
      fc.property(damaged(fc.constantFrom('127.0.0.1:8080', '[::1]:8080', 'localhost:0')), (text) => {
        const address = listen(text)
        if (!address || text.trim() === '') return
        const { host: name, port } = address
        expect([`${name}:`, `[${name}]:`].some((start) => text.trim().startsWith(start))).toBe(true)
        expect(port).toBe(Number(/:(\d+)$/.exec(text.trim())![1]))
        expect(name).not.toMatch(/[\s]/)
        expect(port).toBeLessThanOrEqual(65_535)
      }),
      1000,
    )
  })
})

describe('a rate', () => {
  it('is a number above 0, with or without its unit', () => {
    const number = fc.oneof(
      fc.integer({ min: 0, max: 2_000_000 }),
      fc.integer({ max: 20_000_000 }).map((n) => Math.abs(n) / 1000),
    )
    check(
      fc.property(number, fc.constantFrom('', '/s'), fc.constantFrom('', ' '), (rate, unit, space) => {
        const expected = rate > 0 && rate <= 1_000_000 ? rate : null
        expect(attempt(ConfigError, () => parseRate(`${space}${rate}${unit}${space}`, 'RATE'))).toBe(expected)
      }),
    )
  })

  it('is finite, above 0 and bounded for any text, or refused', () => {
    check(
      fc.property(
        fc.oneof(fc.string({ unit: 'binary' }), damaged(fc.constantFrom('50/s', '0.5', '1e4'))),
        (text) => {
          const rate = attempt(ConfigError, () => parseRate(text, 'RATE'))
          if (rate === null) return
          expect(rate).toBeGreaterThan(0)
          expect(rate).toBeLessThanOrEqual(1_000_000)
          expect(text.trim()).toMatch(/^[\d.]+(\/s)?$/)
        },
      ),
      1000,
    )
  })
})

describe('a duration', () => {
  const UNITS = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }
  const parse = (text: string) => attempt(UsageError, () => parseDuration(text))

  it('is a whole number with its unit, up to a year', () => {
    check(
      fc.property(fc.nat(40_000_000), fc.constantFrom('s', 'm', 'h', 'd'), (count, unit) => {
        const ms = count * UNITS[unit as keyof typeof UNITS]
        expect(parse(`${count}${unit}`)).toBe(ms <= 365 * UNITS.d ? ms : null)
      }),
    )
  })

  it('is refused for any other text', () => {
    check(
      fc.property(
        fc.oneof(fc.string({ unit: 'binary' }), damaged(fc.constantFrom('90s', '30m', '0', '365d'))),
        (text) => {
          const ms = parse(text)
          if (ms === null) return
          expect(text).toMatch(/^(0|\d+[smhd])$/)
          expect(ms).toBeLessThanOrEqual(365 * UNITS.d)
        },
      ),
      1000,
    )
  })
})
