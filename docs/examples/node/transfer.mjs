import { readFile } from 'node:fs/promises'
import { Countersign } from 'countersign/client'

const { CS_BASE_URL = '', CS_API_KEY = '', CS_SIGNING_SECRETS = '', CS_TENANT_ID } = process.env
const countersign = new Countersign({
  baseUrl: CS_BASE_URL,
  apiKey: CS_API_KEY,
  signingSecret: CS_SIGNING_SECRETS,
  tenantId: CS_TENANT_ID,
})
const [atSignUp = 'ada.jpg', today = 'ada-today.jpg'] = process.argv.slice(2)
const action = { type: 'transfer', amount: '1250.00', currency: 'EUR', to: 'Grace' }

// When Ada signs up, once:
await countersign.enroll({ user_id: 'ada', image: await readFile(atSignUp), replace: true })
// When she sends money:
const { jwt } = await countersign.verify({ user_id: 'ada', image: await readFile(today), action })
// Where the money moves. Throws unless Ada approved this transfer just now, and only once:
await countersign.verifyVerdict(jwt, { userId: 'ada', action })
console.log('approved', action.amount)
