/** Judges how the service is operated: sign-in, contracts, lifetime of verdicts, log and the binary of the HTTP edge. */
import { type Evidence, met, notMet, partly } from '../evidence.js'

/** Five minutes, which PSD2 allows. */
const MOST_SECONDS = 300

export const namedOperators: Evidence = {
  judge: ({ config }) =>
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
  settings: ['oidcIssuer', 'operatorPasswordSignIn'],
  tests: 'dashboard/operators dashboard/oidc dashboard/people',
  documents: 'operations/operators.md#operators-with-names operations/operators.md#people-of-tenants',
}

export const secondFactor: Evidence = {
  judge: ({ config }) => {
    if (config.operatorSecondFactor === 'required')
      return met('A sign-in by password needs a second factor; a provider brings its own.')
    return config.oidcIssuer !== undefined && !config.operatorPasswordSignIn
      ? met('Nobody signs in by a password; the provider decides on the second factor.')
      : notMet('A password signs an operator in without a second factor.', 'operatorSecondFactor')
  },
  settings: ['operatorSecondFactor', 'oidcIssuer', 'operatorPasswordSignIn'],
  tests: 'dashboard/second-factor admin/totp',
  documents: 'operations/operators.md#second-factor',
}

/** Whether one stolen key of the API makes another face the user's. */
export const replacement: Evidence = {
  judge: ({ tenants }) => {
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
  facts: ['tenants'],
  tests: 'api/replace-verdict tenants/key-scopes',
  documents: 'guides/production.md#a-verdict-before-a-face-is-replaced',
}

export const verdictLifetime: Evidence = {
  judge: ({ config: { jwtTtlSeconds } }) =>
    jwtTtlSeconds <= MOST_SECONDS
      ? partly(`The payer's session is your application's. A verdict itself lasts ${jwtTtlSeconds} s.`)
      : notMet(`A verdict lasts ${jwtTtlSeconds} s, over five minutes.`, 'jwtTtlSeconds'),
  settings: ['jwtTtlSeconds'],
  tests: 'verification/verify-claims client/verdict',
  documents: 'guides/concepts.md',
}

export const logging: Evidence = {
  judge: ({ config }) =>
    ['silent', 'fatal', 'error', 'warn'].includes(config.logLevel)
      ? notMet(
          `The log's level is ${config.logLevel}: refused keys and single requests are not in it.`,
          'logLevel',
        )
      : met(
          'The log has each request with key id and address, refused keys included, and never a secret, user id or photo.',
        ),
  settings: ['logLevel'],
  tests: 'app/logging http/observation/request-log http/errors',
  documents: 'operations/monitoring.md#log-lines operations/monitoring.md#request-lines',
}

export const dependencies: Evidence = {
  judge: ({ config }) =>
    config.http === 'node'
      ? met(
          'Every package is pinned by version and SHA-512, advisories are asked for, and a bill of materials is made.',
        )
      : partly(
          'Every package is pinned by version and SHA-512. uWebSockets.js is a repacked binary that no advisory feed knows.',
          'http',
        ),
  settings: ['http'],
  tests: 'supply-chain/supply-chain supply-chain/native-install',
  documents: 'supply-chain.md threat-model.md#the-http-edge-and-the-base-image',
}
