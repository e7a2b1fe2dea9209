#!/usr/bin/env bash
# Guess: a picture saved as AVIF with the orientation tag 6 reads back as one saved as JPEG does: pixels as stored, and
# the tag 6 for the reader to apply.
# What happens: the encoder writes the turn as a property of the picture (irot), which the decoder has to apply, and
# leaves the tag in the EXIF block. The decoder hands out upright pixels, no orientation, and an EXIF block that still
# says 6.
# Why it matters: a reader that takes the tag from the EXIF block, as is right for JPEG, turns the face a second time.
# In HEIF and AVIF only the properties of the picture count.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private":true}' >package.json
npm install --silent --ignore-scripts --no-audit --no-fund sharp@0.35.5
cat >seen.mjs <<'EOF'
import sharp from 'sharp'

// 40 by 20 pixels, red on the left and blue on the right; the tag says that the picture is to be turned by 90 degrees.
const pixels = Buffer.alloc(40 * 20 * 3)
for (let at = 0; at < 40 * 20; at++) pixels[at * 3 + (at % 40 < 20 ? 0 : 2)] = 255
const picture = () => sharp(pixels, { raw: { width: 40, height: 20, channels: 3 } }).withMetadata({ orientation: 6 })

// The entry of an EXIF block for the orientation: tag 0x0112, a short, one value.
const ENTRY = Buffer.from([0x12, 0x01, 0x03, 0x00, 0x01, 0x00, 0x00, 0x00])
const describe = async (file) => {
  const { width, height, orientation, exif } = await sharp(file).metadata()
  return `${width}x${height}, orientation ${orientation}, EXIF block ${exif[exif.indexOf(ENTRY) + ENTRY.length]}`
}
const jpeg = await describe(await picture().jpeg().toBuffer())
const avif = await describe(await picture().avif().toBuffer())
console.log(`sharp ${sharp.versions.sharp}, libheif ${sharp.versions.heif}`)
console.log(`Expected, as for JPEG: ${jpeg}`)
console.log(`Seen for AVIF: ${avif}`)

if (!(jpeg === '40x20, orientation 6, EXIF block 6' && avif === '20x40, orientation undefined, EXIF block 6')) {
  console.log('The behaviour has changed.')
  process.exit(1)
}
EOF
node seen.mjs
