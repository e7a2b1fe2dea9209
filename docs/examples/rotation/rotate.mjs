/** Rotates the signing secret of a running application: node rotate.mjs secrets.json */
import { Countersign } from 'countersign/client'
import { readSecrets, writeSecrets } from './secrets.mjs'

const { CS_BASE_URL, CS_API_KEY } = process.env
const [file] = process.argv.slice(2)

const countersign = new Countersign({
  baseUrl: CS_BASE_URL,
  apiKey: CS_API_KEY,
  signingSecret: () => readSecrets(file),
})

const [current] = await readSecrets(file)
const { signing_secret, previous } = await countersign.rotateSigning()
await writeSecrets(file, [
  { id: signing_secret.id, secret: signing_secret.secret },
  { id: previous.id, secret: current.secret, validUntil: previous.valid_until },
])
console.log(`${signing_secret.id} signs; ${previous.id} is valid until ${previous.valid_until}`)
