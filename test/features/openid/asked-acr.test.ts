/** Tests of the `acr` that an application asks for, of what a person is then asked for, and of which approval is enough. */
import { describe, expect, it } from 'vitest'
import { askedAcr, captureFields, namedAcr, satisfies } from '../../../src/features/openid/asked-acr.js'

const acr = (rest: string) => `urn:countersign:acr:${rest}`
const LEAST = acr('face-active')
const claims = (member: unknown) => JSON.stringify({ id_token: { acr: member } })
const asked = (acrValues: unknown, member?: unknown) =>
  askedAcr(acrValues, member === undefined ? undefined : claims(member), LEAST)

describe('the acr that is asked for', () => {
  it('is that of the settings where the request names none', () => {
    const own = { values: [LEAST], isEssential: false }
    for (const request of [asked(undefined), asked(''), asked('phr'), asked(undefined, null), asked(7)])
      expect(request).toEqual(own)
    for (const other of ['{}', '{"id_token":{}}', '{"userinfo":{"acr":{"essential":true,"value":"x"}}}'])
      expect(askedAcr(undefined, other, LEAST)).toEqual(own)
  })

  it('is voluntary by acr_values and by a claim that is not essential, of which only known names count', () => {
    const [pad, swk] = [acr('face-active-pad'), acr('face-active-swk')]
    expect(asked(`phr ${pad} ${swk}`)).toEqual({ values: [pad, swk], isEssential: false })
    expect(asked(swk, { value: pad })).toEqual({ values: [pad, swk], isEssential: false })
    for (const essential of [false, 'true', 1, null])
      expect(asked(undefined, { values: [pad, 'phr'], essential })).toEqual({
        ...{ values: [pad], isEssential: false },
      })
  })

  it('is essential by a claim that says so, with the names as they are', () => {
    const pad = acr('face-active-pad')
    expect(asked(acr('face'), { essential: true, values: ['phr', pad, 7] })).toEqual({
      ...{ values: ['phr', pad], isEssential: true },
    })
    expect(asked(undefined, { essential: true, value: 'phr' })).toEqual({
      values: ['phr'],
      isEssential: true,
    })
    expect(asked(undefined, { essential: true, values: 'phr' })).toEqual({
      values: [LEAST],
      isEssential: false,
    })
    expect(asked(acr('face'), { essential: true })).toEqual({ values: [acr('face')], isEssential: false })
  })
})

describe('the fields of the capture session', () => {
  const fields = (...values: string[]) => captureFields({ values, isEssential: true }, LEAST)
  it('ask for the first known name, and for what the settings ask', () => {
    const both = { modes: ['turn', 'nod'] }
    expect(fields(acr('face'))).toEqual({ require_liveness: 'active', ...both })
    expect(fields('phr', acr('face-pad'), acr('face-swk'))).toEqual({ require_liveness: 'both', ...both })
    expect(fields(acr('face-active-nod-swk'))).toEqual({
      ...{ require_liveness: 'active', ...both, passkey: 'required' },
    })
    expect(fields(acr('face-hwk'))).toMatchObject({ passkey: 'required' })
    expect(fields('phr')).toBeNull()
  })

  it('name the movements, or none where the names ask for none', () => {
    const given = { values: [acr('face-active-nod')], isEssential: false }
    expect(captureFields(given, acr('face'))).toEqual({ require_liveness: 'active', modes: ['nod'] })
    expect(captureFields(given, acr('face-active-turn'))).toMatchObject({ modes: ['turn', 'nod'] })
    expect(captureFields({ values: [acr('face')], isEssential: false }, 'unknown')).toEqual({
      ...{ require_liveness: 'active' },
    })
    expect(captureFields({ values: [acr('face')], isEssential: false }, acr('face-pad'))).toEqual({
      ...{ require_liveness: 'both' },
    })
  })
})

describe('an approval', () => {
  const enough = (given: string, isEssential: boolean, ...values: string[]) =>
    satisfies(acr(given), { values: values.map(acr), isEssential }, LEAST)

  it('is enough where it is as strong as the settings, and as one of the essential names', () => {
    expect(enough('face-active', false, 'face-active-pad')).toBe(true)
    expect(enough('face-active-nod', false, 'face')).toBe(false)
    expect(enough('face-active-nod', true, 'face')).toBe(false)
    expect(enough('face-active', true, 'face-active-pad')).toBe(false)
    expect(enough('face-active', true, 'face-active-pad', 'face-active-turn')).toBe(true)
    expect(enough('face-active-hwk', true, 'face-active-swk')).toBe(true)
    expect(satisfies(LEAST, { values: ['phr'], isEssential: true }, LEAST)).toBe(false)
  })

  it('is named as the first name that it reaches, or else by its own', () => {
    const name = (given: string, ...values: string[]) =>
      namedAcr(acr(given), {
        values: values.map((one) => (one === 'phr' ? one : acr(one))),
        isEssential: false,
      })
    expect(name('face-active-pad', 'phr', 'face-active-hwk', 'face-active', 'face')).toBe(LEAST)
    expect(name('face-active', 'phr', 'face-active-pad')).toBe(LEAST)
  })
})
