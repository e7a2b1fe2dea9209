/** Judges who may do what: operators, people of tenants, keys of the API. */
import { always, type Evidence, judged, met, notMet, partly } from '../evidence.js'

/** The identity of an operator. */
export const namedOperators: Evidence = judged(
  ({ config }) =>
    config.oidcIssuer === undefined
      ? partly(
          'Operators and people have names and roles, but the shared password of the operator signs in too: no provider is configured.',
          'oidcIssuer',
        )
      : config.operatorPasswordSignIn
        ? partly(
            'Operators sign in by your OpenID provider, and by password as well.',
            'operatorPasswordSignIn',
          )
        : met('Operators sign in by your OpenID provider; each act is in the audit log under its name.'),
  {
    settings: ['oidcIssuer', 'operatorPasswordSignIn'],
    tests: [
      'test/dashboard/operators.test.ts',
      'test/dashboard/oidc.test.ts',
      'test/dashboard/people.test.ts',
    ],
    documents: ['operations/operators.md#operators-with-names', 'operations/operators.md#people-of-tenants'],
  },
)

/** The strength of an operator's sign-in. */
export const secondFactor: Evidence = judged(
  ({ config }) => {
    if (config.operatorSecondFactor === 'required')
      return met('A sign-in by password needs a second factor; a provider brings its own.')
    return config.oidcIssuer !== undefined && !config.operatorPasswordSignIn
      ? met('Nobody signs in by a password; the provider decides on the second factor.')
      : notMet('A password signs an operator in without a second factor.', 'operatorSecondFactor')
  },
  {
    settings: ['operatorSecondFactor', 'oidcIssuer', 'operatorPasswordSignIn'],
    tests: ['test/dashboard/second-factor.test.ts', 'test/crypto/totp.test.ts'],
    documents: ['operations/operators.md#second-factor'],
  },
)

/** The rights of an operator, a person of a tenant, or a key. */
export const rights: Evidence = always(
  met('Roles decide each route; keys of the API have scopes and networks; the last admin cannot be removed.'),
  {
    tests: [
      'test/dashboard/operators.test.ts',
      'test/dashboard/people.test.ts',
      'test/tenants/key-scopes.test.ts',
      'test/http/access.test.ts',
    ],
    documents: [
      'guides/production.md#keys-for-parts-of-your-backend',
      'operations/operators.md#operators-with-names',
    ],
  },
)

/** Sessions end, and revealing or destroying needs a fresh sign-in. */
export const privilegedActs: Evidence = always(
  met(
    'Changing something or revealing a secret needs a fresh sign-in; sessions end unused and in any case; the audit log names who did it.',
  ),
  {
    tests: ['test/dashboard/sessions.test.ts', 'test/cli/sessions.test.ts', 'test/dashboard/sign-in.test.ts'],
    documents: ['operations/operators.md#sessions'],
  },
)

/** Whether one stolen key of the API makes another face the user's. */
export const replacement: Evidence = judged(
  ({ tenants }) => {
    const open = tenants.filter(({ replaceVerdictMinutes }) => replaceVerdictMinutes === null)
    if (tenants.length === 0)
      return partly(
        'No tenant exists yet. A contract can ask for a verdict of the old face before it is replaced.',
      )
    return open.length === 0
      ? met('Every contract asks for a verdict of the old face before it is replaced.')
      : notMet(
          `A key with the scope replace makes another face the user's, without the old one: ${open.length} of ${tenants.length} contracts ask for no verdict.`,
          'tenants',
        )
  },
  {
    facts: ['tenants'],
    tests: ['test/api/replace-verdict.test.ts', 'test/tenants/key-scopes.test.ts'],
    documents: ['guides/production.md#a-verdict-before-a-face-is-replaced'],
  },
)
