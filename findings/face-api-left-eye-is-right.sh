#!/usr/bin/env bash
# Guess: getLeftEye of face-api gives the person’s left eye, which is on the right of a picture that is not mirrored, as
# in MediaPipe and in ISO 19794-5.
# What happens: it gives the eye on the left of the picture, which is the person’s right one.
# Why it matters: "close your left eye", "turn to your left" and records of eye positions come out mirrored, and code
# that moves between face-api and other libraries swaps the eyes. An alignment with swapped eyes turns the face upside
# down.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private":true}' >package.json
npm install --silent --ignore-scripts --no-audit --no-fund @vladmandic/face-api@1.7.15 @tensorflow/tfjs@4.22.0 @tensorflow/tfjs-backend-wasm@4.22.0 sharp@0.35.5
cat >seen.cjs <<'EOF'
const wasm = require('@tensorflow/tfjs-backend-wasm')
const tf = require('@tensorflow/tfjs')
const faceapi = require('@vladmandic/face-api/dist/face-api.node-wasm.js')
const sharp = require('sharp')

const PACKAGE = `${__dirname}/node_modules/@vladmandic/face-api`
wasm.setWasmPaths(`${__dirname}/node_modules/@tensorflow/tfjs-backend-wasm/dist/`)
console.warn = console.error = () => {}

const detector = new faceapi.SsdMobilenetv1Options({ minConfidence: 0.3 })
async function tensorOf(image) {
  const { data, info } = await image.removeAlpha().raw().toBuffer({ resolveWithObject: true })
  return tf.tensor3d(new Uint8Array(data), [info.height, info.width, 3], 'int32')
}

async function main() {
  await tf.setBackend('wasm')
  await tf.ready()
  for (const net of ['ssdMobilenetv1', 'faceLandmark68Net']) await faceapi.nets[net].loadFromDisk(`${PACKAGE}/model`)
  const photo = sharp(`${PACKAGE}/demo/sample3.jpg`).extract({ left: 856, top: 35, width: 658, height: 658 })
  const { landmarks } = await faceapi.detectSingleFace(await tensorOf(photo), detector).withFaceLandmarks()
  const seen = landmarks.getLeftEye()[0].x < landmarks.getRightEye()[0].x ? 'left' : 'right'
  console.log(`@vladmandic/face-api ${faceapi.version.faceapi ?? faceapi.version}`)
  console.log('Expected: getLeftEye is on the right of the picture')
  console.log(`Seen: getLeftEye is on the ${seen} of the picture`)

  if (!(seen === 'left')) {
    console.log('The behaviour has changed.')
    process.exit(1)
  }
}
main()
EOF
node seen.cjs
