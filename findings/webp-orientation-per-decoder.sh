#!/usr/bin/env bash
# Guess: a decoder that obeys the orientation tag obeys it in every format that can have one. So all agree on JPEG, PNG
# and WebP.
# What happens: sharp turns all three. Chromium turns JPEG and PNG but not WebP. @napi-rs/canvas, which stands in for
# the browser on a server, turns only JPEG.
# Why it matters: the same photo is upright for the service and lies on its side in the preview, or the other way round,
# and a face that lies on its side is not found or not matched. Turn the pixels before you store or send a photo.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
chromium=$(command -v chromium) || { echo 'This needs Chromium as a package of the system.' >&2; exit 2; }
echo '{"private":true}' >package.json
npm install --silent --ignore-scripts --no-audit --no-fund sharp@0.35.5 @napi-rs/canvas@1.1.1 playwright-core@1.65.1
cat >seen.mjs <<'EOF'
import { createServer } from 'node:http'
import { loadImage } from '@napi-rs/canvas'
import { chromium } from 'playwright-core'
import sharp from 'sharp'

// 40 by 20 pixels, red on the left and blue on the right; the tag says that the picture is to be turned by 90 degrees.
const pixels = Buffer.alloc(40 * 20 * 3)
for (let at = 0; at < 40 * 20; at++) pixels[at * 3 + (at % 40 < 20 ? 0 : 2)] = 255
const picture = () => sharp(pixels, { raw: { width: 40, height: 20, channels: 3 } }).withMetadata({ orientation: 6 })

const files = {
  jpeg: await picture().jpeg().toBuffer(),
  png: await picture().png().toBuffer(),
  webp: await picture().webp().toBuffer(),
}

const server = createServer((_, answer) => {
  answer.setHeader('content-type', 'text/html')
  answer.end('<!doctype html><title>Finding</title>')
}).listen(0, '127.0.0.1')
const browser = await chromium.launch({ executablePath: process.argv[2], args: ['--no-sandbox'] })
const page = await browser.newPage()
await page.goto(`http://localhost:${server.address().port}/`)

const inBrowser = (type, file) =>
  page.evaluate(
    async ([type, file]) => {
      const image = new Image()
      image.src = `data:image/${type};base64,${file}`
      await image.decode()
      return image.naturalWidth
    },
    [type, file.toString('base64')],
  )
const turned = { sharp: [], chromium: [], canvas: [] }
for (const [type, file] of Object.entries(files)) {
  const upright = await sharp(file).autoOrient().toBuffer({ resolveWithObject: true })
  if (upright.info.width === 20) turned.sharp.push(type)
  if ((await inBrowser(type, file)) === 20) turned.chromium.push(type)
  if ((await loadImage(file)).width === 20) turned.canvas.push(type)
}
const version = browser.version()
await browser.close()
server.close()
const seen = Object.entries(turned).map(([decoder, types]) => `${decoder} ${types.join(' ')}`).join(', ')
console.log(`sharp ${sharp.versions.sharp}, Chromium ${version}, @napi-rs/canvas 1.1.1`)
console.log('Expected to be turned: jpeg png webp by each')
console.log(`Seen to be turned: ${seen}`)

if (!(seen === 'sharp jpeg png webp, chromium jpeg png, canvas jpeg')) {
  console.log('The behaviour has changed.')
  process.exit(1)
}
EOF
node seen.mjs "$chromium"
