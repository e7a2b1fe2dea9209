/** The declared claims against those that the service writes: the types of the SDKs are generated from the declaration. */
import Schema from 'typebox/schema'
import { expect, it } from 'vitest'
import { ALL_CLAIMS, exampleClaims, FIELDS } from '../../tools/generators/verdict-page.js'
import { claimsSchema } from '../../tools/generators/wire-types.js'
import { OPENAPI } from '../support/descriptions.js'

const EXAMPLES = [exampleClaims('approved'), exampleClaims('rejected')]
const optional = Object.keys(ALL_CLAIMS).filter((name) => ALL_CLAIMS[name]!.isOptional)

it('declares every claim that the service writes, and no other', () => {
  expect(Object.keys(ALL_CLAIMS).sort()).toEqual(FIELDS.namesAt('jwt').sort())
})

it('declares as optional the claims that an approval or a rejection can lack', () => {
  expect(optional).toEqual(
    Object.keys(ALL_CLAIMS).filter((name) => EXAMPLES.some((claims) => !(name in claims))),
  )
})

it('says of optional claims, and of no other, when they are absent', () => {
  const said = Object.entries(ALL_CLAIMS).filter(([, { description }]) =>
    /\bAbsent /.test(String(description)),
  )
  expect(said.map(([name]) => name)).toEqual(optional)
})

it.each(EXAMPLES)('has a schema that the claims of a verdict keep to: $verdict', (claims) => {
  const { components } = OPENAPI as { components: { schemas: object } }
  const schema = claimsSchema(components.schemas)
  expect(Schema.Errors(schema, claims)).toEqual([true, []])
  expect(Schema.Errors(schema, { ...claims, model_grade: 'best' })[0]).toBe(false)
})
