/** Checks a public verdict with the SDK and the issuer's address: node verify.mjs <issuer> <tenant> <user> <token> */
import { verifyVerdict } from 'countersign/client'

const [issuer = '', audience = '', userId = '', token = ''] = process.argv.slice(2)
const action = { type: 'wire_transfer', amount: '1250.00', currency: 'EUR' }

const environment = process.env.CS_ENVIRONMENT === 'sandbox' ? 'sandbox' : 'production'
const claims = await verifyVerdict(token, { issuer, audience, environment, userId, action })
console.log(`${claims.sub} may do it: ${claims.jti}`)
