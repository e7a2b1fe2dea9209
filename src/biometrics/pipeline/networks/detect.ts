/** The detection stage: finds the faces of an image at every scale that the pack names, and merges them. */

import type { DetectorSpec } from '../../../../models/pack/pack-schema.js'
import { kernels } from '../../kernels/kernels.js'
import type { Pixels, PlaneFormat } from '../../kernels/planes.js'
import { ImagePyramid } from '../decode/image-pyramid.js'
import { toPlaneFormat } from '../decode/pixel-input.js'
import { type Detection, scaledBox, suppressOverlaps } from './detection.js'
import { decodeTinyYoloV2 } from './detector-tiny-yolov2.js'
import { decodeYunetHead, YUNET_STRIDES } from './detector-yunet.js'
import type { Network, NetworkOutput } from './network.js'
import { ScratchBuffer } from './scratch-buffer.js'

/** Position of the picture in the network's input: at its top left, `ratio` network pixels per image pixel. */
interface Letterbox {
  width: number
  height: number
  contentWidth: number
  contentHeight: number
  ratio: number
}

export class FaceDetector {
  private readonly format: PlaneFormat
  private readonly scratch = new ScratchBuffer()

  constructor(
    private readonly network: Network,
    private readonly spec: DetectorSpec,
  ) {
    this.format = toPlaneFormat(spec.input)
  }

  /**
   * Returns every face, best score first, in pixels of the pyramid's base; doubtful faces only if there is no other.
   */
  async detect(pyramid: ImagePyramid): Promise<Detection[]> {
    const faces = await this.search(pyramid, this.spec.sizes)
    const sure = faces.filter((face) => this.isSure(face))
    return sure.length > 0 ? sure : faces
  }

  /** Returns the sure faces of a picture of a second look, at the pack's first size only. */
  async detectAgain(picture: Pixels): Promise<Detection[]> {
    const faces = await this.search(new ImagePyramid(picture), this.spec.sizes.slice(0, 1))
    return faces.filter((face) => this.isSure(face))
  }

  private async search(pyramid: ImagePyramid, sizes: readonly number[]): Promise<Detection[]> {
    const found: Detection[] = []
    const { width, height } = pyramid.base
    const { sufficientFacePx } = this.spec
    for (const size of sizes) {
      const letterbox = this.letterbox(width, height, size)
      const shape = [1, 3, letterbox.height, letterbox.width]
      const outputs = await this.network.run(this.fill(pyramid, letterbox), shape)
      for (const detection of this.decode(outputs, letterbox))
        found.push(rescale(detection, 1 / letterbox.ratio))
      const isSufficient = ({ box }: Detection) =>
        box.width * letterbox.ratio >= (sufficientFacePx ?? Infinity)
      if (found.some((face) => this.isSure(face) && isSufficient(face))) break
    }
    return suppressOverlaps(found, this.spec.nmsIou)
  }

  private isSure({ score }: Detection): boolean {
    return score >= this.spec.scoreThreshold
  }

  private letterbox(width: number, height: number, size: number): Letterbox {
    const longSide = Math.max(width, height)
    if (this.spec.decoder === 'tiny-yolov2') {
      return letterboxOf(width, height, size / longSide, size, size)
    }
    const [, , fixedHeight, fixedWidth] = this.network.inputShape
    const ratio = Math.min(1, size / longSide, (fixedWidth ?? size) / width, (fixedHeight ?? size) / height)
    const padded = (side: number) => Math.ceil(Math.round(side * ratio) / 32) * 32
    return letterboxOf(width, height, ratio, fixedWidth ?? padded(width), fixedHeight ?? padded(height))
  }

  private fill(
    pyramid: ImagePyramid,
    { width, height, contentWidth, contentHeight, ratio }: Letterbox,
  ): Float32Array {
    const data = this.scratch.take(3 * width * height)
    const { pixels } = pyramid.levelFor(1 / ratio)
    kernels.resizeToPlanar(
      pixels,
      { x: 0, y: 0, width: pixels.width, height: pixels.height },
      { data, width, height },
      { x: 0, y: 0, width: contentWidth, height: contentHeight },
      this.format,
    )
    return data
  }

  private decode(outputs: Map<string, NetworkOutput>, letterbox: Letterbox): Detection[] {
    const { anchors } = this.spec
    const scoreThreshold = lowestScore(this.spec)
    if (this.spec.decoder === 'tiny-yolov2') {
      const [grid] = outputs.values()
      const [, , rows, columns] = grid!.dims as [number, number, number, number]
      return decodeTinyYoloV2(grid!.data, rows, columns, letterbox.width, anchors!, scoreThreshold)
    }
    const output = (name: string) => {
      const found = outputs.get(name)
      if (!found) throw new Error(`the detector has no output ${name}`)
      return found.data
    }
    return YUNET_STRIDES.flatMap((stride) => {
      const [cls, obj] = [output(`cls_${stride}`), output(`obj_${stride}`)]
      const [bbox, kps] = [output(`bbox_${stride}`), output(`kps_${stride}`)]
      return decodeYunetHead({ stride, cls, obj, bbox, kps }, letterbox.width, scoreThreshold)
    })
  }
}

/** Lowest score of a face that a detector reports. */
export function lowestScore({
  scoreThreshold,
  lastResortScoreThreshold = scoreThreshold,
}: DetectorSpec): number {
  return lastResortScoreThreshold
}

/**
 * Returns those faces of a shared detector that one of its packs would report without the others: a stricter pack has no use for
 * doubtful faces.
 */
export function facesBy(spec: DetectorSpec, found: readonly Detection[]): Detection[] {
  const lowest = lowestScore(spec)
  // The decoder of YuNet keeps a face of just the lowest score, that of Tiny YOLO drops it.
  return found.filter(({ score }) => (spec.decoder === 'yunet' ? score >= lowest : score > lowest))
}

function letterboxOf(
  width: number,
  height: number,
  ratio: number,
  outWidth: number,
  outHeight: number,
): Letterbox {
  return {
    width: outWidth,
    height: outHeight,
    contentWidth: Math.min(outWidth, Math.max(1, Math.round(width * ratio))),
    contentHeight: Math.min(outHeight, Math.max(1, Math.round(height * ratio))),
    ratio,
  }
}

function rescale({ box, score, points }: Detection, factor: number): Detection {
  return { box: scaledBox(box, factor), score, points: points?.map((value) => value * factor) ?? null }
}
