#!/usr/bin/env bash
# Guess: a rectangle given to createImageBitmap counts in the picture as createImageBitmap shows it without a rectangle,
# that is turned as its orientation tag says.
# What happens: of a photo with tag 6 or 8, as phones held upright make them, Chromium gives the upper half where the
# lower one was asked for, and the other way round. A photo with tag 1 or 3 is cut as asked. Cutting a bitmap of the
# whole goes wrong as well.
# Why it matters: a page that finds a face in a chosen photo and cuts it out by createImageBitmap cuts out something
# else, only for photos from phones. drawImage onto a canvas with the same rectangle, after the whole was drawn, is
# right.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
chromium=$(command -v chromium) || { echo 'This needs Chromium as a package of the system.' >&2; exit 2; }
echo '{"private":true}' >package.json
npm install --silent --ignore-scripts --no-audit --no-fund sharp@0.35.5 playwright-core@1.65.1
cat >seen.mjs <<'EOF'
import { createServer } from 'node:http'
import { chromium } from 'playwright-core'
import sharp from 'sharp'

// Four stripes from left to right, as stored: red, green, blue, yellow.
const STRIPES = [[255, 0, 0], [0, 255, 0], [0, 0, 255], [255, 255, 0]]
const pixels = Buffer.alloc(40 * 20 * 3)
for (let at = 0; at < 40 * 20; at++) pixels.set(STRIPES[Math.floor((at % 40) / 10)], at * 3)
const file = async (orientation) => {
  const picture = sharp(pixels, { raw: { width: 40, height: 20, channels: 3 } }).withMetadata({ orientation })
  return (await picture.png().toBuffer()).toString('base64')
}

const server = createServer((_, answer) => {
  answer.setHeader('content-type', 'text/html')
  answer.end('<!doctype html><title>Finding</title>')
}).listen(0, '127.0.0.1')
const browser = await chromium.launch({ executablePath: process.argv[2], args: ['--no-sandbox'] })
const page = await browser.newPage()
await page.goto(`http://localhost:${server.address().port}/`)

/** Colors from top to bottom of the whole picture, and of its upper square of 20 by 20. */
const stripes = (file) =>
  page.evaluate(async (file) => {
    const blob = await (await fetch(`data:image/png;base64,${file}`)).blob()
    const colors = (bitmap) => {
      const context = new OffscreenCanvas(20, 40).getContext('2d')
      context.drawImage(bitmap, 0, 0)
      const names = { '255,0,0': 'red', '0,255,0': 'green', '0,0,255': 'blue', '255,255,0': 'yellow' }
      const rows = Array.from({ length: bitmap.height / 10 }, (_, row) => context.getImageData(10, row * 10 + 5, 1, 1).data)
      return rows.map(([r, g, b]) => names[`${r},${g},${b}`]).join(' ')
    }
    return [colors(await createImageBitmap(blob)), colors(await createImageBitmap(blob, 0, 0, 20, 20))]
  }, file)
const [whole, upper] = await stripes(await file(6))
const version = browser.version()
await browser.close()
server.close()
console.log(`Chromium ${version}`)
console.log(`Expected of the upper half of ${whole}: red green`)
console.log(`Seen: ${upper}`)

if (!(whole === 'red green blue yellow' && upper === 'blue yellow')) {
  console.log('The behaviour has changed.')
  process.exit(1)
}
EOF
node seen.mjs "$chromium"
