/**
 * Face recognition as a first version is often written: onnxruntime-node with its defaults, sharp for every resize,
 * plain loops for the rest, no second look at a mirrored face. It reads the same pack as Countersign.
 */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import ort from 'onnxruntime-node'
import sharp from 'sharp'

export async function loadRecognizer(packDir) {
  const pack = JSON.parse(await readFile(join(packDir, 'pack.json'), 'utf8'))
  const open = (spec) => spec && ort.InferenceSession.create(join(packDir, spec.file))
  const sessions = {
    detector: await open(pack.detector),
    landmarks: await open(pack.landmarks),
    embedder: await open(pack.embedder),
  }

  /** @returns the largest face's embedding, or null without one */
  async function embed(bytes) {
    const { data, info } = await sharp(bytes)
      .rotate()
      .removeAlpha()
      .raw()
      .toBuffer({ resolveWithObject: true })
    const image = { data, width: info.width, height: info.height }
    const face = await detect(image)
    if (!face) return null
    const points = face.points ?? (await findLandmarks(image, face.box))
    const { input, alignment } = pack.embedder
    const chip = align(image, points, alignment, input)
    const [embedding] = await run(sessions.embedder, toTensor(chip, input.width, input.height, input))
    return pack.embedder.normalize ? normalize(embedding) : embedding
  }

  function score(a, b) {
    if (pack.embedder.metric === 'euclidean') return 1 - Math.hypot(...a.map((x, i) => x - b[i])) / 2
    return dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b))
  }

  async function detect(image) {
    for (const size of pack.detector.sizes) {
      const faces = pack.detector.decoder === 'yunet' ? await yunet(image, size) : await tinyYolo(image, size)
      if (faces.length > 0) return faces.reduce((a, b) => (b.box.width > a.box.width ? b : a))
    }
    return null
  }

  async function tinyYolo(image, size) {
    const { input, anchors, scoreThreshold } = pack.detector
    const ratio = size / Math.max(image.width, image.height)
    const pixels = await fit(image, null, ratio, size, size)
    const grid = await sessions.detector.run({
      [sessions.detector.inputNames[0]]: toTensor(pixels, size, size, input),
    })
    const { data, dims } = grid[sessions.detector.outputNames[0]]
    const [, , rows, columns] = dims
    const cells = rows * columns
    const cell = size / columns
    const faces = []
    anchors.forEach(([anchorWidth, anchorHeight], anchor) => {
      for (let i = 0; i < cells; i++) {
        const at = (channel) => data[(anchor * 5 + channel) * cells + i]
        const confidence = sigmoid(at(4))
        if (confidence <= scoreThreshold) continue
        const width = (Math.exp(at(2)) * anchorWidth * cell) / ratio
        const height = (Math.exp(at(3)) * anchorHeight * cell) / ratio
        const x = (((i % columns) + sigmoid(at(0))) * cell) / ratio - width / 2
        const y = ((Math.floor(i / columns) + sigmoid(at(1))) * cell) / ratio - height / 2
        faces.push({ score: confidence, box: { x, y, width, height }, points: null })
      }
    })
    return suppress(faces, pack.detector.nmsIou)
  }

  async function yunet(image, size) {
    const { input, scoreThreshold } = pack.detector
    const ratio = Math.min(1, size / Math.max(image.width, image.height))
    const padded = (side) => Math.ceil(Math.round(side * ratio) / 32) * 32
    const [width, height] = [padded(image.width), padded(image.height)]
    const pixels = await fit(image, null, ratio, width, height)
    const out = await sessions.detector.run({
      [sessions.detector.inputNames[0]]: toTensor(pixels, width, height, input),
    })
    const faces = []
    for (const stride of [8, 16, 32]) {
      const [cls, obj, bbox, kps] = ['cls', 'obj', 'bbox', 'kps'].map((name) => out[`${name}_${stride}`].data)
      const columns = width / stride
      for (let i = 0; i < cls.length; i++) {
        const confidence = Math.sqrt(cls[i] * obj[i])
        if (!(confidence >= scoreThreshold)) continue
        const [column, row] = [i % columns, Math.floor(i / columns)]
        const w = Math.exp(bbox[4 * i + 2]) * stride
        const h = Math.exp(bbox[4 * i + 3]) * stride
        const x = (column + bbox[4 * i]) * stride - w / 2
        const y = (row + bbox[4 * i + 1]) * stride - h / 2
        const points = [0, 1, 2, 3, 4].map((j) => [
          ((column + kps[10 * i + 2 * j]) * stride) / ratio,
          ((row + kps[10 * i + 2 * j + 1]) * stride) / ratio,
        ])
        const box = { x: x / ratio, y: y / ratio, width: w / ratio, height: h / ratio }
        faces.push({ score: confidence, box, points })
      }
    }
    return suppress(faces, pack.detector.nmsIou)
  }

  async function findLandmarks(image, box) {
    const { input } = pack.landmarks
    const left = Math.max(0, Math.floor(box.x))
    const top = Math.max(0, Math.floor(box.y))
    const width = Math.min(image.width, Math.ceil(box.x + box.width)) - left
    const height = Math.min(image.height, Math.ceil(box.y + box.height)) - top
    const ratio = Math.min(input.width / width, input.height / height)
    const padLeft = (input.width - Math.round(width * ratio)) >> 1
    const padTop = (input.height - Math.round(height * ratio)) >> 1
    const crop = { left, top, width, height }
    const pixels = await fit(image, crop, ratio, input.width, input.height, padLeft, padTop)
    const [relative] = await run(sessions.landmarks, toTensor(pixels, input.width, input.height, input))
    return Array.from({ length: 68 }, (_, i) => [
      left + (relative[2 * i] * input.width - padLeft) / ratio,
      top + (relative[2 * i + 1] * input.height - padTop) / ratio,
    ])
  }

  return { embed, score }
}

async function run(session, tensor) {
  const outputs = await session.run({ [session.inputNames[0]]: tensor })
  return session.outputNames.map((name) => outputs[name].data)
}

/** Returns the picture, or a part of it, scaled by `ratio` onto a black canvas. */
function fit(image, crop, ratio, width, height, padLeft = 0, padTop = 0) {
  const part = crop ?? { left: 0, top: 0, width: image.width, height: image.height }
  const inner = {
    width: Math.min(width, Math.max(1, Math.round(part.width * ratio))),
    height: Math.min(height, Math.max(1, Math.round(part.height * ratio))),
  }
  return sharp(image.data, { raw: { width: image.width, height: image.height, channels: 3 } })
    .extract(part)
    .resize({ ...inner, fit: 'fill' })
    .extend({
      left: padLeft,
      top: padTop,
      right: width - inner.width - padLeft,
      bottom: height - inner.height - padTop,
      background: '#000000',
    })
    .raw()
    .toBuffer()
}

/** Converts interleaved RGB bytes to planar floats, as the pack says. */
function toTensor(pixels, width, height, { color, mean, scale }) {
  const count = width * height
  const planes = new Float32Array(3 * count)
  for (let channel = 0; channel < 3; channel++) {
    const from = color === 'bgr' ? 2 - channel : channel
    for (let i = 0; i < count; i++) {
      planes[channel * count + i] = (pixels[3 * i + from] - mean[channel]) * scale[channel]
    }
  }
  return new ort.Tensor('float32', planes, [1, 3, height, width])
}

/** Cuts the face out: least-squares similarity of the points onto the template, then bilinear sampling. */
function align({ data, width, height }, points, { source, target }, size) {
  const from = source.map((index) => points[index])
  const mean = (list, k) => list.reduce((sum, point) => sum + point[k], 0) / list.length
  const [mx, my, mu, mv] = [mean(from, 0), mean(from, 1), mean(target, 0), mean(target, 1)]
  let [along, across, spread] = [0, 0, 0]
  from.forEach(([px, py], i) => {
    const [x, y, u, v] = [px - mx, py - my, target[i][0] - mu, target[i][1] - mv]
    along += x * u + y * v
    across += x * v - y * u
    spread += x * x + y * y
  })
  const [a, b] = [along / spread, across / spread]
  const square = a * a + b * b
  const chip = new Uint8Array(3 * size.width * size.height)
  for (let v = 0; v < size.height; v++) {
    for (let u = 0; u < size.width; u++) {
      const x = mx + (a * (u - mu) + b * (v - mv)) / square
      const y = my + (a * (v - mv) - b * (u - mu)) / square
      const [x0, y0] = [Math.floor(x), Math.floor(y)]
      const [fx, fy] = [x - x0, y - y0]
      for (let channel = 0; channel < 3; channel++) {
        const pixel = (px, py) =>
          px < 0 || py < 0 || px >= width || py >= height ? 0 : data[3 * (py * width + px) + channel]
        const upper = pixel(x0, y0) * (1 - fx) + pixel(x0 + 1, y0) * fx
        const lower = pixel(x0, y0 + 1) * (1 - fx) + pixel(x0 + 1, y0 + 1) * fx
        chip[3 * (v * size.width + u) + channel] = Math.round(upper * (1 - fy) + lower * fy)
      }
    }
  }
  return chip
}

function suppress(faces, limit) {
  const kept = []
  for (const face of faces.sort((a, b) => b.score - a.score)) {
    if (kept.every(({ box }) => overlap(box, face.box) < limit)) kept.push(face)
  }
  return kept
}

function overlap(a, b) {
  const width = Math.min(a.x + a.width, b.x + b.width) - Math.max(a.x, b.x)
  const height = Math.min(a.y + a.height, b.y + b.height) - Math.max(a.y, b.y)
  if (width <= 0 || height <= 0) return 0
  return (width * height) / (a.width * a.height + b.width * b.height - width * height)
}

const sigmoid = (x) => 1 / (1 + Math.exp(-x))
const dot = (a, b) => a.reduce((sum, x, i) => sum + x * b[i], 0)
const normalize = (vector) => {
  const length = Math.sqrt(dot(vector, vector))
  return vector.map((x) => x / length)
}
