/** The liveness stage: presentation attack detection on crops around the face. */

import type { LivenessSpec } from '../../../../models/pack/pack-schema.js'
import { kernels } from '../../kernels/kernels.js'
import type { Rectangle } from '../../kernels/planes.js'
import type { Box, Liveness } from '../../types.js'
import type { ImagePyramid } from '../decode/image-pyramid.js'
import { toPlaneFormat } from '../decode/pixel-input.js'
import { hasRoomAround, scaleWithin } from '../judge/liveness-room.js'
import type { Network } from './network.js'
import { ScratchBuffer } from './scratch-buffer.js'

/** Result where too little around the face is visible: networks that look for a frame or an edge would be guessing. */
const TOO_CLOSE: Liveness = { checked: true, score: null, passed: false, guidance: 'too_close' }

export class LivenessChecker {
  private readonly scratch = new ScratchBuffer()

  /** @param networks in the order of `spec.networks` */
  constructor(
    private readonly networks: readonly Network[],
    private readonly spec: LivenessSpec,
  ) {}

  /** @param box the detector's box, in pixels of the pyramid's base */
  async check(pyramid: ImagePyramid, box: Box): Promise<Liveness> {
    const { base } = pyramid
    const { networks } = this.spec
    if (!hasRoomAround(box, base, this.spec)) return TOO_CLOSE
    let sum = 0
    for (const [i, { input, cropScale }] of networks.entries()) {
      const { width, height } = input
      const data = this.scratch.take(3 * width * height)
      // The crop is sampled straight from full size, with aliasing: the networks were trained on such crops.
      kernels.resizeToPlanar(
        base,
        widenBox(box, cropScale, base.width, base.height),
        { data, width, height },
        { x: 0, y: 0, width, height },
        toPlaneFormat(input),
      )
      const logits = await this.networks[i]!.runSingle(data, [1, 3, height, width])
      sum += softmaxAt(logits.data, this.spec.liveClass)
    }
    const score = sum / this.networks.length
    return { checked: true, score, passed: score >= this.spec.threshold }
  }
}

/**
 * Returns the rectangle `cropScale` times the box around its center, smaller where the image is, moved inside the
 * image, on whole pixels with both edges included (Silent-Face-Anti-Spoofing, generate_patches.py).
 */
export function widenBox(box: Box, cropScale: number, imageWidth: number, imageHeight: number): Rectangle {
  const [x, y] = [Math.trunc(box.x), Math.trunc(box.y)]
  const [width, height] = [Math.trunc(box.width), Math.trunc(box.height)]
  const scale = scaleWithin(box, cropScale, imageWidth, imageHeight)
  const place = (start: number, side: number, limit: number) => {
    const size = side * scale
    const first = start + side / 2 - size / 2
    const shifted = Math.max(0, Math.min(first, limit - 1 - size))
    const from = Math.trunc(shifted)
    return { from, count: Math.min(Math.trunc(shifted + size), limit - 1) - from + 1 }
  }
  const across = place(x, width, imageWidth)
  const down = place(y, height, imageHeight)
  return { x: across.from, y: down.from, width: across.count, height: down.count }
}

function softmaxAt(logits: Float32Array, index: number): number {
  const largest = Math.max(...logits)
  const powers = Array.from(logits, (logit) => Math.exp(logit - largest))
  return (powers[index] ?? 0) / powers.reduce((a, b) => a + b, 0)
}
