/** TensorFlow.js on its WebAssembly backend, as a Node user configures it, and JPEG decoding with sharp. */
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import sharp from 'sharp'

const require = createRequire(import.meta.url)

/** The single copy of TensorFlow.js that the libraries require themselves. */
export const tf = require('@tensorflow/tfjs')
const wasm = require('@tensorflow/tfjs-backend-wasm')

export async function startWasm() {
  wasm.setWasmPaths(wasmFolder())
  await tf.setBackend('wasm')
  await tf.ready()
}

/** Finds the folder of an installed package; some do not export their package.json. */
export function packageFolder(name) {
  return fileURLToPath(new URL(`./node_modules/${name}/`, import.meta.url))
}

export function wasmFolder() {
  return `${packageFolder('@tensorflow/tfjs-backend-wasm')}dist/`
}

export async function versionOf(name) {
  return JSON.parse(await readFile(`${packageFolder(name)}package.json`, 'utf8')).version
}

/** Features of this machine that the backend detected. */
export async function describeWasm() {
  const simd = await tf.env().getAsync('WASM_HAS_SIMD_SUPPORT')
  const threads = await tf.env().getAsync('WASM_HAS_MULTITHREAD_SUPPORT')
  return { tfjs: tf.version_core, backend: tf.getBackend(), simd, threads }
}

/** @returns [height, width, 3] int32; the caller disposes of it */
export async function decode(bytes) {
  const { data, info } = await sharp(bytes)
    .rotate()
    .toColourspace('srgb')
    .removeAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true })
  return tf.tensor3d(data, [info.height, info.width, 3], 'int32')
}
