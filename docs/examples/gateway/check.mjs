/** Checks a public verdict with jose and the issuer's address: node check.mjs <issuer> <tenant> <token> */
import { createRemoteJWKSet, jwtVerify } from 'jose'

const [issuer = '', audience = '', token = ''] = process.argv.slice(2)

const keys = createRemoteJWKSet(new URL(`${issuer}/.well-known/jwks.json`))
const { payload } = await jwtVerify(token, keys, {
  algorithms: ['ES256'],
  typ: 'stepup+jwt',
  issuer,
  audience,
  clockTolerance: 60,
  requiredClaims: ['exp', 'sub', 'jti', 'action_hash'],
})
console.log(`${payload.verdict} for ${payload.sub}: action ${payload.action_hash}`)
