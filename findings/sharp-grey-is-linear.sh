#!/usr/bin/env bash
# Guess: the grey value of a pixel is its luma, 0.299 R + 0.587 G + 0.114 B, as in the Y plane of a JPEG and in cvtColor
# of OpenCV. Pure red becomes 76.
# What happens: libvips, under sharp, adds up light and not encoded values, and encodes the sum again. Red becomes 127,
# green 220, blue 76.
# Why it matters: limits for brightness and contrast of a face, perceptual hashes that find repeated photos, and
# detectors for grey input give other results with sharp than with the library for which their numbers were chosen.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private":true}' >package.json
npm install --silent --ignore-scripts --no-audit --no-fund sharp@0.35.5
cat >seen.mjs <<'EOF'
import sharp from 'sharp'

const grey = async (r, g, b) => {
  const one = sharp({ create: { width: 8, height: 8, channels: 3, background: { r, g, b } } }).png()
  return (await sharp(await one.toBuffer()).greyscale().raw().toBuffer())[0]
}
const seen = [await grey(255, 0, 0), await grey(0, 255, 0), await grey(0, 0, 255)].join(' ')
console.log(`sharp ${sharp.versions.sharp}, libvips ${sharp.versions.vips}`)
console.log('Expected for red, green and blue: 76 150 29')
console.log(`Seen for red, green and blue: ${seen}`)

if (!(seen === '127 220 76')) {
  console.log('The behaviour has changed.')
  process.exit(1)
}
EOF
node seen.mjs
