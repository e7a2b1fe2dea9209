/** Tests of whom a request names, and of the actions that it can name. */
import { expect, it } from 'vitest'
import {
  ACTION_TYPES,
  actionOf,
  authorizationDetailsTypes,
} from '../../../src/features/openid/authorization-details.js'
import { namedPerson } from '../../../src/features/openid/named-person.js'
import { SECOND_MS } from '../../../src/lib/clock.js'

const EXP = 1_790_000_000
/** An ID token whose signature was checked before. */
const token = (payload: object) =>
  `${['{"alg":"RS256"}', JSON.stringify(payload)].map((part) => Buffer.from(part).toString('base64url')).join('.')}.AA`

it('a request names the person by a hint or by an earlier ID token', () => {
  const id_token_hint = token({ sub: 'ada', exp: EXP })
  expect(namedPerson({ login_hint: 'ada' })).toEqual({ userId: 'ada' })
  expect(namedPerson({ id_token_hint })).toEqual({ userId: 'ada' })
  expect(namedPerson({ id_token_hint, login_hint: 'ada' })).toEqual({ userId: 'ada' })
  expect(namedPerson({ id_token_hint, login_hint: '' })).toEqual({ userId: 'ada' })
  for (const params of [{}, { login_hint: '' }, { login_hint: 7 }, { id_token_hint: '' }])
    expect(namedPerson(params)).toEqual({ code: 'user_not_named' })
})

it('a request whose two hints name two persons names none', () => {
  for (const payload of [{ sub: 'ada', exp: EXP }, { exp: EXP }])
    expect(namedPerson({ id_token_hint: token(payload), login_hint: 'eve' })).toEqual({
      ...{ code: 'hint_not_valid', detail: expect.stringContaining('two persons') },
    })
})

it('an ID token that is over names nobody', () => {
  const over = { code: 'hint_not_valid', detail: 'exp' }
  const params = { id_token_hint: token({ sub: 'ada', exp: EXP }) }
  expect(namedPerson(params, EXP * SECOND_MS - 1)).toEqual({ userId: 'ada' })
  expect(namedPerson(params, EXP * SECOND_MS)).toEqual(over)
  expect(namedPerson({ id_token_hint: token({ sub: 'ada' }) }, EXP * SECOND_MS)).toEqual(over)
  expect(namedPerson({ ...params, login_hint: 'ada' }, EXP * SECOND_MS)).toEqual(over)
})

it('a request names one action, or a sign-in', () => {
  const action = { type: 'login', application: 'Wiki' }
  expect(actionOf(undefined, 'Bank')).toEqual({ type: 'login', application: 'Bank' })
  expect(actionOf(JSON.stringify([action]), 'Bank')).toEqual(action)
  expect(ACTION_TYPES).not.toContain('payment_batch')
  const types = authorizationDetailsTypes()
  expect(Object.keys(types)).toEqual(ACTION_TYPES)
  const validate = (...details: object[]) =>
    types.login!.validate(
      { oidc: { params: { authorization_details: JSON.stringify(details) } } } as never,
      details[0],
    )
  const refused = (description: string) =>
    expect.objectContaining({
      ...{ error: 'invalid_authorization_details', error_description: expect.stringContaining(description) },
    })
  expect(() => validate(action)).not.toThrow()
  expect(() => validate(action, action)).toThrow(refused('exactly one action'))
  expect(() => validate({ type: 'payment', amount: '1.00' })).toThrow(refused('currency'))
})
