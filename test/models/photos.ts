/** Images for the model tests: seeded noise, and the photographs that ship with face-api, as RGB tensors. */
import { readFileSync } from 'node:fs'
import sharp, { type Sharp } from 'sharp'
import { type Tensor, tensor } from './reference/nhwc.js'

export const DEMO_DIR = new URL('../../node_modules/@vladmandic/face-api/demo/', import.meta.url)

export interface Region {
  left: number
  top: number
  width: number
  height: number
}

/** `sample1.jpg` to `sample6.jpg`, group portraits of about 1920 × 1400 pixels. As bytes: the service's decoder opens no files, process-wide. */
export function demoPhoto(index: number): Buffer {
  return readFileSync(new URL(`sample${index}.jpg`, DEMO_DIR))
}

/** A region of a photograph, stretched to a square of `side` pixels. */
export async function squareOf(photo: string | Buffer, region: Region, side: number): Promise<Tensor> {
  return toTensor(sharp(photo).extract(region).resize(side, side, { fit: 'fill' }))
}

export async function toTensor(image: Sharp): Promise<Tensor> {
  const { data, info } = await image.removeAlpha().raw().toBuffer({ resolveWithObject: true })
  return tensor(info.height, info.width, 3, new Float64Array(data))
}

/** Bytes of a linear congruential generator (Numerical Recipes' constants), the same on every run. */
export function noise(side: number, seed: number): Tensor {
  let state = seed >>> 0
  const data = Float64Array.from({ length: side * side * 3 }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state >>> 24
  })
  return tensor(side, side, 3, data)
}
