#!/usr/bin/env bash
# Guess: the quality of canvas.toBlob is a scale. From 0.99 to 1 the picture and its size change little, and WebP stays
# a lossy format.
# What happens: at exactly 1 Chromium changes to lossless WebP. The pixels come back unchanged, and a photo with noise
# takes several times the bytes of 0.99, which has errors as any lossy picture.
# Why it matters: a capture page that asks for "the best quality" sends several times as much and meets the limit for a
# request, and one that measures sharpness or noise of what it sent compares two kinds of file.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
chromium=$(command -v chromium) || { echo 'This needs Chromium as a package of the system.' >&2; exit 2; }
echo '{"private":true}' >package.json
npm install --silent --ignore-scripts --no-audit --no-fund playwright-core@1.65.1
cat >seen.mjs <<'EOF'
import { createServer } from 'node:http'
import { chromium } from 'playwright-core'

const server = createServer((_, answer) => {
  answer.setHeader('content-type', 'text/html')
  answer.end('<!doctype html><title>Finding</title>')
}).listen(0, '127.0.0.1')
const browser = await chromium.launch({ executablePath: process.argv[2], args: ['--no-sandbox'] })
const page = await browser.newPage()
await page.goto(`http://localhost:${server.address().port}/`)

const seen = await page.evaluate(async () => {
  const side = 256
  const canvas = document.createElement('canvas')
  canvas.width = canvas.height = side
  const context = canvas.getContext('2d', { willReadFrequently: true })
  // A smooth picture with the noise of a camera.
  const before = context.createImageData(side, side)
  let seed = 1
  for (let at = 0; at < side * side * 4; at++) {
    seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff
    before.data[at] = at % 4 === 3 ? 255 : 60 + ((at >> 2) % side) / 2 + ((seed >> 16) % 16)
  }
  const results = {}
  for (const quality of [0.99, 1]) {
    context.putImageData(before, 0, 0)
    const blob = await new Promise((done) => canvas.toBlob(done, 'image/webp', quality))
    context.drawImage(await createImageBitmap(blob), 0, 0)
    const after = context.getImageData(0, 0, side, side).data
    results[quality] = { bytes: blob.size, error: after.reduce((most, value, at) => Math.max(most, Math.abs(value - before.data[at])), 0) }
  }
  return results
})
const version = browser.version()
await browser.close()
server.close()
const ratio = seen[1].bytes / seen[0.99].bytes
console.log(`Chromium ${version}`)
console.log('Expected: quality 1 takes a little more than 0.99, and both change pixels')
console.log(`Seen: quality 1 takes ${ratio.toFixed(1)} times the bytes; largest change ${seen[1].error} instead of ${seen[0.99].error}`)

if (!(seen[1].error === 0 && seen[0.99].error > 0 && ratio > 1.5)) {
  console.log('The behaviour has changed.')
  process.exit(1)
}
EOF
node seen.mjs "$chromium"
