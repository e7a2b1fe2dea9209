import { describe, expect, it } from 'vitest'
import {
  CapturePageError,
  type CapturePageSettings,
  capturePageSettings,
  checkedCapturePage,
} from '../../../src/features/capture-sessions/capture-page-settings.js'
import { safeOrigin } from '../../../src/tenants/safe-origin.js'

const SETTINGS: CapturePageSettings = {
  company: 'Bank of Ada',
  returnOrigins: ['https://bank.example'],
  frameAncestors: ['https://app.bank.example:8443'],
  consent: { version: '1', text: 'We compare your face.' },
  color: '#0b57d0',
  logo: { sha256: 'a'.repeat(64), width: 480, height: 120 },
}
const withReturn = (origin: string) => ({ ...SETTINGS, returnOrigins: [origin] })

describe('the capture page of a tenant', () => {
  it('the default settings of a capture page have no return origins', () => {
    expect(capturePageSettings({ capturePage: null })).toEqual({
      company: null,
      returnOrigins: [],
      frameAncestors: [],
      consent: null,
      color: null,
      logo: null,
    })
  })

  it('settings of a capture page are read as they were set', () => {
    expect(capturePageSettings({ capturePage: checkedCapturePage(SETTINGS) })).toEqual(SETTINGS)
  })

  it.each([
    ['https://Bank.Example/', 'https://bank.example'],
    ['https://bank.example:8443', 'https://bank.example:8443'],
    ['http://localhost:3000', 'http://localhost:3000'],
    ['http://127.0.0.1:3000', 'http://127.0.0.1:3000'],
    ['http://[::1]:3000', 'http://[::1]:3000'],
  ])('accepts the return origin %s', (given, origin) => {
    const { returnOrigins } = capturePageSettings({ capturePage: checkedCapturePage(withReturn(given)) })
    expect(returnOrigins).toEqual([origin])
  })

  it.each([
    'http://bank.example',
    'https://bank.example/path',
    'https://bank.example?x',
    'https://*.bank.example/',
    'https://ada@bank.example',
    'javascript:alert(1)',
    'data:text/html,x',
    'https://bank.example; script-src *',
    'bank.example',
    'null',
    '',
  ])('refuses %s as return origin and as frame ancestor', (origin) => {
    const refused = expect.objectContaining({ code: 'invalid_origin' })
    expect(() => checkedCapturePage(withReturn(origin))).toThrow(refused)
    expect(() => checkedCapturePage({ ...SETTINGS, frameAncestors: [origin] })).toThrow(refused)
  })

  it.each([
    ['invalid_company', { company: ' ' }],
    ['invalid_company', { company: 'x'.repeat(81) }],
    ['invalid_consent', { consent: { version: '', text: 'x' } }],
    ['invalid_consent', { consent: { version: '1', text: '\n' } }],
    ['invalid_consent', { consent: { version: '1', text: 'x'.repeat(4001) } }],
    ['invalid_color', { color: 'red' }],
    ['invalid_color', { color: '#0b57d0; } body { display: none' }],
    ['invalid_color', { color: '#0B57D0' }],
    ['invalid_origin', { returnOrigins: Array.from({ length: 21 }, (_, i) => `https://bank${i}.example`) }],
  ])('refuses with %s the settings %j', (code, change) => {
    expect(() => checkedCapturePage({ ...SETTINGS, ...change })).toThrow(CapturePageError)
    expect(() => checkedCapturePage({ ...SETTINGS, ...change })).toThrow(expect.objectContaining({ code }))
  })
})

describe('the origin of an address to lead back to', () => {
  it.each([
    ['https://bank.example/a?b#c', 'https://bank.example'],
    ['HTTPS://BANK.example:443/', 'https://bank.example'],
    ['https://bank.example\\@evil.example/', 'https://bank.example'],
    ['https://bank.example@evil.example/', null],
    ['//bank.example', null],
    ['http://127.0.0.1.evil.example/', null],
  ])('the safe origin of %s is %s', (address, origin) => {
    expect(safeOrigin(address)).toBe(origin)
  })
})
