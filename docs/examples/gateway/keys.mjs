/**
 * Writes the issuer's keys for HAProxy, which reads no JWKS: node keys.mjs <issuer> <folder>
 * The folder gets a PEM file for each place of the configuration, and `kids.map` that says which key is in which place. The program
 * prints `changed` where HAProxy has to be reloaded.
 */
import { createPublicKey, generateKeyPairSync } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** The next key, the one that signs, and retired ones. */
const PLACES = 4

const [issuer = '', folder = ''] = process.argv.slice(2)
const answer = await fetch(`${issuer}/.well-known/jwks.json`)
if (!answer.ok) throw new Error(`The keys cannot be read: ${answer.status}.`)
const { keys } = /** @type {{ keys: import('node:crypto').JsonWebKey[] }} */ (await answer.json())
const known = keys.filter(({ kty, crv }) => kty === 'EC' && crv === 'P-256')
if (known.length > PLACES) throw new Error(`There are ${known.length} keys and ${PLACES} places.`)

/** @param {import('node:crypto').KeyObject} key */
const pem = (key) => String(key.export({ type: 'spki', format: 'pem' }))
const files = Array.from({ length: PLACES }, (_, place) => {
  const jwk = known[place]
  // HAProxy needs a file for each place. The private half of this key is never kept.
  const { publicKey } = jwk
    ? { publicKey: createPublicKey({ key: jwk, format: 'jwk' }) }
    : generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return { name: `${place + 1}.pem`, text: pem(publicKey), isUsed: jwk !== undefined }
})
const map = known.map(({ kid }, place) => `${kid} ${place + 1}\n`).join('')

/** @param {string} name */
function before(name) {
  try {
    return readFileSync(join(folder, name), 'utf8')
  } catch {
    return null
  }
}

/** @param {string} name @param {string} text */
function write(name, text) {
  writeFileSync(join(folder, `${name}.new`), text)
  renameSync(join(folder, `${name}.new`), join(folder, name))
}

mkdirSync(folder, { recursive: true })
const changed = files.filter(({ name, text, isUsed }) =>
  isUsed ? before(name) !== text : before(name) === null,
)
for (const { name, text } of changed) write(name, text)
const isMapChanged = before('kids.map') !== map
if (isMapChanged) write('kids.map', map)
if (changed.length > 0 || isMapChanged) console.log('changed')
