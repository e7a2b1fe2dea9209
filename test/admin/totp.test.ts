/** Codes by time, against the tables of the RFCs. */
import { describe, expect, it } from 'vitest'
import { base32, matchingStep, totpCode, totpStep, totpUri } from '../../src/admin/accounts/totp.js'

const SECRET = Buffer.from('12345678901234567890')

describe('a code by time', () => {
  it('TOTP codes are those of RFC 6238, appendix B', () => {
    for (const [seconds, code] of [
      [59, '94287082'],
      [1_111_111_109, '07081804'],
      [1_111_111_111, '14050471'],
      [1_234_567_890, '89005924'],
      [2_000_000_000, '69279037'],
      [20_000_000_000, '65353130'],
    ] as const)
      expect(totpCode(SECRET, totpStep(seconds * 1000), 8)).toBe(code)
  })

  it('six-digit codes are those of RFC 4226, appendix D', () => {
    const codes = Array.from({ length: 10 }, (_, counter) => totpCode(SECRET, counter))
    expect(codes.join(' ')).toBe('755224 287082 359152 969429 338314 254676 287922 162583 399871 520489')
  })

  it('accepts a code of the present step, the one before and the one after, and no other', () => {
    const now = 1_790_000_000_000
    const step = totpStep(now)
    for (const offset of [-1, 0, 1])
      expect(matchingStep(SECRET, totpCode(SECRET, step + offset), now)).toBe(step + offset)
    for (const offset of [-2, 2])
      expect(matchingStep(SECRET, totpCode(SECRET, step + offset), now)).toBeNull()
    for (const code of ['', '12345', '1234567', 'ö2345', '１２３４５６'])
      expect(matchingStep(SECRET, code, now)).toBeNull()
  })

  it('base32 is that of RFC 4648, section 10, without padding', () => {
    const encoded = ['f', 'fo', 'foo', 'foob', 'fooba', 'foobar'].map((text) => base32(Buffer.from(text)))
    expect(encoded).toEqual(['MY', 'MZXQ', 'MZXW6', 'MZXW6YQ', 'MZXW6YTB', 'MZXW6YTBOI'])
    expect(totpUri(SECRET, 'Countersign', 'kim@example.com')).toBe(
      'otpauth://totp/Countersign:kim%40example.com?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Countersign',
    )
  })
})
