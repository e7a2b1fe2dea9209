/** Rotates the signing secret of a running application: node rotate.mjs secrets.json [--force] */
import { Countersign } from 'countersign/client'
import { readSecrets, writeSecrets } from './secrets.mjs'

const { CS_BASE_URL = '', CS_API_KEY = '' } = process.env
const [file = 'secrets.json', option] = process.argv.slice(2)

const countersign = new Countersign({
  baseUrl: CS_BASE_URL,
  apiKey: CS_API_KEY,
  signingSecret: () => readSecrets(file),
})

const known = await readSecrets(file)
const { signing_secret, previous } = await countersign.rotateSigning({ force: option === '--force' })
const { id, secret } = signing_secret
// The previous one is kept where it is known: after a loss it is the secret that nobody has.
const older = known.filter((one) => one.id === previous.id)
await writeSecrets(file, [
  { id, secret },
  ...older.map((one) => ({ ...one, validUntil: previous.valid_until })),
])
console.log(`${id} signs; ${previous.id} is valid until ${previous.valid_until}`)
