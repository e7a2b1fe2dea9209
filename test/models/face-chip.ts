/** The shortest way from a photograph to an embedding: a plain implementation of pack.json. */
import sharp from 'sharp'
import { baselinePackDocument } from '../../tools/pack-builders/baseline/pack-document.js'
import type { BaselinePack } from './baseline-pack.js'
import { type Region, squareOf, toTensor } from './photos.js'
import { type Tensor, tensor } from './reference/nhwc.js'

const { detector, landmarks, embedder } = baselinePackDocument()
const DETECTOR_SIDE = detector.sizes[0]
const LANDMARKS_SIDE = landmarks.input.width
const CHIP_SIDE = embedder.input.width

type Point = [x: number, y: number]

const sigmoid = (x: number): number => 1 / (1 + Math.exp(-x))

/** The best-scored face of a square region that one face fills by a third or more, clipped to the photograph. */
export async function findFace(
  pack: BaselinePack,
  photo: string | Buffer,
  region: Region,
): Promise<Region & { score: number }> {
  const { dims, data } = await pack.run('detector', [await squareOf(photo, region, DETECTOR_SIDE)])
  const cells = dims[3]!
  const at = (anchor: number, k: number, cell: number) => data[(anchor * 5 + k) * cells ** 2 + cell]!
  let best = { anchor: 0, cell: 0, objectness: Number.NEGATIVE_INFINITY }
  for (const anchor of detector.anchors.keys()) {
    for (let cell = 0; cell < cells ** 2; cell++) {
      const objectness = at(anchor, 4, cell)
      if (objectness > best.objectness) best = { anchor, cell, objectness }
    }
  }
  const { anchor, cell } = best
  const cellPx = region.width / cells
  const width = Math.exp(at(anchor, 2, cell)) * detector.anchors[anchor]![0] * cellPx
  const height = Math.exp(at(anchor, 3, cell)) * detector.anchors[anchor]![1] * cellPx
  const centreX = region.left + ((cell % cells) + sigmoid(at(anchor, 0, cell))) * cellPx
  const centreY = region.top + (Math.floor(cell / cells) + sigmoid(at(anchor, 1, cell))) * cellPx
  const size = await sharp(photo).metadata()
  const left = Math.max(0, Math.floor(centreX - width / 2))
  const top = Math.max(0, Math.floor(centreY - height / 2))
  return {
    left,
    top,
    width: Math.min(size.width, Math.floor(centreX + width / 2)) - left,
    height: Math.min(size.height, Math.floor(centreY + height / 2)) - top,
    score: sigmoid(best.objectness),
  }
}

/** The 68 landmarks of a box, in pixels of the photograph. */
export async function findLandmarks(
  pack: BaselinePack,
  photo: string | Buffer,
  box: Region,
): Promise<Point[]> {
  const { left, top, width, height } = box
  const crop = sharp(photo).extract({ left, top, width, height })
  const padded = await toTensor(
    crop.resize(LANDMARKS_SIDE, LANDMARKS_SIDE, { fit: 'contain', background: '#000' }),
  )
  const { data } = await pack.run('landmarks', [padded])
  const side = Math.max(width, height)
  return Array.from({ length: data.length / 2 }, (_, i) => [
    left - (side - width) / 2 + data[2 * i]! * side,
    top - (side - height) / 2 + data[2 * i + 1]! * side,
  ])
}

/** The aligned chip: least-squares similarity of the pack's points, inverted, bilinear, zero outside. */
export function alignChip(photo: Tensor, points: Point[]): Tensor {
  const { source, target } = embedder.alignment
  const from = source.map((i) => points[i]!)
  const { a, b, tx, ty } = fitSimilarity(target as Point[], from)
  const chip = tensor(CHIP_SIDE, CHIP_SIDE, 3)
  for (let y = 0; y < CHIP_SIDE; y++) {
    for (let x = 0; x < CHIP_SIDE; x++) {
      for (let c = 0; c < 3; c++) {
        chip.data[(y * CHIP_SIDE + x) * 3 + c] = bilinear(photo, a * x - b * y + tx, b * x + a * y + ty, c)
      }
    }
  }
  return chip
}

/** Average of the chip's embedding and that of its mirror image. */
export async function embed(
  pack: BaselinePack,
  chip: Tensor,
  network: 'embedder' | 'embedder-int8' = 'embedder',
): Promise<Float64Array> {
  const mirrored = tensor(chip.height, chip.width, 3)
  for (let i = 0; i < chip.data.length; i++) {
    const [pixel, c] = [Math.floor(i / 3), i % 3]
    const [y, x] = [Math.floor(pixel / chip.width), pixel % chip.width]
    mirrored.data[(y * chip.width + chip.width - 1 - x) * 3 + c] = chip.data[i]!
  }
  const { data } = await pack.run(network, [chip, mirrored])
  return Float64Array.from(
    { length: embedder.dimensions },
    (_, i) => (data[i]! + data[embedder.dimensions + i]!) / 2,
  )
}

export async function embedFace(
  pack: BaselinePack,
  photo: string | Buffer,
  region: Region,
  network: 'embedder' | 'embedder-int8' = 'embedder',
): Promise<Float64Array> {
  const points = await findLandmarks(pack, photo, await findFace(pack, photo, region))
  return embed(pack, alignChip(await toTensor(sharp(photo)), points), network)
}

export function distance(a: Float64Array, b: Float64Array): number {
  return Math.hypot(...a.map((value, i) => value - b[i]!))
}

function fitSimilarity(from: Point[], to: Point[]): { a: number; b: number; tx: number; ty: number } {
  const mean = (points: Point[], axis: 0 | 1) => points.reduce((sum, p) => sum + p[axis], 0) / points.length
  const [fx, fy, gx, gy] = [mean(from, 0), mean(from, 1), mean(to, 0), mean(to, 1)]
  let [dot, cross, norm] = [0, 0, 0]
  for (const [i, [x, y]] of from.entries()) {
    const [u, v] = to[i]!
    dot += (x - fx) * (u - gx) + (y - fy) * (v - gy)
    cross += (x - fx) * (v - gy) - (y - fy) * (u - gx)
    norm += (x - fx) ** 2 + (y - fy) ** 2
  }
  const [a, b] = [dot / norm, cross / norm]
  return { a, b, tx: gx - a * fx + b * fy, ty: gy - b * fx - a * fy }
}

function bilinear(image: Tensor, x: number, y: number, channel: number): number {
  const [x0, y0] = [Math.floor(x), Math.floor(y)]
  let sum = 0
  for (const [px, wx] of [
    [x0, x0 + 1 - x],
    [x0 + 1, x - x0],
  ] as Point[]) {
    for (const [py, wy] of [
      [y0, y0 + 1 - y],
      [y0 + 1, y - y0],
    ] as Point[]) {
      if (px < 0 || py < 0 || px >= image.width || py >= image.height) continue
      sum += wx * wy * image.data[(py * image.width + px) * image.channels + channel]!
    }
  }
  return sum
}
