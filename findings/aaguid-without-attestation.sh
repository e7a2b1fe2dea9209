#!/usr/bin/env bash
# Guess: with attestation "none" the browser replaces the AAGUID, which names the model of the authenticator, by zeros,
# as Level 2 of WebAuthn says.
# What happens: Chromium does so for an authenticator on USB. Of one inside the device it removes the attestation and
# leaves the AAGUID, so a model is named that no signature vouches for.
# Why it matters: a registration that shows a model, or is limited to some models, works in tests without attestation
# and seems to be checked. Only an attestation that is verified makes the AAGUID more than a label.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
chromium=$(command -v chromium) || { echo 'This needs Chromium as a package of the system.' >&2; exit 2; }
echo '{"private":true}' >package.json
npm install --silent --ignore-scripts --no-audit --no-fund @simplewebauthn/server@14.0.3 playwright-core@1.65.1
cat >seen.mjs <<'EOF'
import { createServer } from 'node:http'
import { verifyRegistrationResponse } from '@simplewebauthn/server'
import { chromium } from 'playwright-core'

const server = createServer((_, answer) => {
  answer.setHeader('content-type', 'text/html')
  answer.end('<!doctype html><title>Finding</title>')
}).listen(0, '127.0.0.1')
const browser = await chromium.launch({ executablePath: process.argv[2], args: ['--no-sandbox'] })
const page = await browser.newPage()
await page.goto(`http://localhost:${server.address().port}/`)

const devtools = await page.context().newCDPSession(page)
await devtools.send('WebAuthn.enable')
async function register(transport) {
  const { authenticatorId } = await devtools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport,
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  })
  const response = await page.evaluate(async () => {
    const credential = await navigator.credentials.create({
      publicKey: {
        rp: { id: 'localhost', name: 'Bank' },
        user: { id: new Uint8Array(8), name: 'ada', displayName: 'Ada' },
        challenge: new Uint8Array(16),
        pubKeyCredParams: [{ type: 'public-key', alg: -7 }],
        attestation: 'none',
        authenticatorSelection: { userVerification: 'required' },
      },
    })
    return credential.toJSON()
  })
  await devtools.send('WebAuthn.removeVirtualAuthenticator', { authenticatorId })
  const { registrationInfo } = await verifyRegistrationResponse({
    response,
    expectedChallenge: Buffer.alloc(16).toString('base64url'),
    expectedOrigin: `http://localhost:${server.address().port}`,
    expectedRPID: 'localhost',
  })
  return `${registrationInfo.fmt} ${registrationInfo.aaguid}`
}
const seen = `usb ${await register('usb')}, internal ${await register('internal')}`
const version = browser.version()
await browser.close()
server.close()
console.log(`Chromium ${version}, its virtual authenticators, @simplewebauthn/server 14.0.3`)
console.log('Expected for both: none 00000000-0000-0000-0000-000000000000')
console.log(`Seen: ${seen}`)

if (!(seen === 'usb none 00000000-0000-0000-0000-000000000000, internal none 01020304-0506-0708-0102-030405060708')) {
  console.log('The behaviour has changed.')
  process.exit(1)
}
EOF
node seen.mjs "$chromium"
