#!/usr/bin/env bash
# Guess: a camera that has no portrait format refuses exactly 480 by 640 with OverconstrainedError, and takePhoto of
# ImageCapture gives the picture that the preview shows.
# What happens: Chromium cuts and scales the camera’s landscape picture to 480 by 640. takePhoto bypasses the cut: its
# photo is the whole picture in landscape, with another shape than the preview.
# Why it matters: a face that fills the oval of the preview is small in the photo, and people and things next to the
# preview are in it. A capture page that guides by the preview has to take its photo from the preview, as grabFrame
# does.
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
const browser = await chromium.launch({ executablePath: process.argv[2], args: ['--no-sandbox', '--use-fake-device-for-media-stream', '--use-fake-ui-for-media-stream'] })
const page = await browser.newPage()
await page.goto(`http://localhost:${server.address().port}/`)

const seen = await page.evaluate(async () => {
  const wanted = { width: { exact: 480 }, height: { exact: 640 } }
  let stream
  try {
    stream = await navigator.mediaDevices.getUserMedia({ video: wanted })
  } catch (error) {
    return error.name
  }
  const [track] = stream.getVideoTracks()
  const { width, height, resizeMode } = track.getSettings()
  const capture = new ImageCapture(track)
  const frame = await capture.grabFrame()
  const photo = await createImageBitmap(await capture.takePhoto())
  const shape = (picture) => (picture.width > picture.height ? 'landscape' : 'portrait')
  return `track ${width}x${height} ${resizeMode}, frame ${shape(frame)}, photo ${shape(photo)}`
})
const version = browser.version()
await browser.close()
server.close()
console.log(`Chromium ${version}, its fake camera`)
console.log('Expected: OverconstrainedError')
console.log(`Seen: ${seen}`)

if (!(seen === 'track 480x640 crop-and-scale, frame portrait, photo landscape')) {
  console.log('The behaviour has changed.')
  process.exit(1)
}
EOF
node seen.mjs "$chromium"
