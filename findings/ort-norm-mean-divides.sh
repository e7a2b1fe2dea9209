#!/usr/bin/env bash
# Guess: in Tensor.fromImage, norm { mean: 127.5, bias: 127.5 } subtracts the mean, as everywhere where pixels are
# normalised, and gives values from -1 to 1 or 0 to 2.
# What happens: the value is (pixel + bias) / mean. The mean is what it divides by, so this gives 1 to 3, and -1 to 1
# needs { mean: 127.5, bias: -127.5 }.
# Why it matters: a face network answers wrongly normalised pixels with embeddings that look right, so nothing fails:
# people only match less well in the browser than on the server.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
chromium=$(command -v chromium) || { echo 'This needs Chromium as a package of the system.' >&2; exit 2; }
echo '{"private":true}' >package.json
npm install --silent --ignore-scripts --no-audit --no-fund onnxruntime-web@1.30.0 playwright-core@1.65.1
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

await page.addScriptTag({ path: 'node_modules/onnxruntime-web/dist/ort.min.js' })
const { seen, right, ort } = await page.evaluate(async () => {
  const picture = new ImageData(new Uint8ClampedArray([0, 0, 0, 255, 255, 255, 255, 255]), 2, 1)
  const values = async (norm) => [...new Set((await globalThis.ort.Tensor.fromImage(picture, { norm })).data)].join(' ')
  return {
    seen: await values({ mean: 127.5, bias: 127.5 }),
    right: await values({ mean: 127.5, bias: -127.5 }),
    ort: globalThis.ort.env.versions.web,
  }
})
const version = browser.version()
await browser.close()
server.close()
console.log(`onnxruntime-web ${ort}, Chromium ${version}`)
console.log('Expected of mean 127.5 and bias 127.5 for black and white: -1 1, or 0 2')
console.log(`Seen: ${seen}; with bias -127.5: ${right}`)

if (!(seen === '1 3' && right === '-1 1')) {
  console.log('The behaviour has changed.')
  process.exit(1)
}
EOF
node seen.mjs "$chromium"
