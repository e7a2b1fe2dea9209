/**
 * An image at full, half, quarter … size, computed on demand: reading the smallest level that is large enough avoids
 * aliasing.
 */
import { kernels } from '../../kernels/kernels.js'
import type { Pixels } from '../../kernels/planes.js'

export class ImagePyramid {
  private readonly levels: Pixels[]

  constructor(base: Pixels) {
    this.levels = [base]
  }

  get base(): Pixels {
    return this.levels[0]!
  }

  /**
   * The smallest level that is still at least 1/`shrink` of the base's size, and its exponent: a base pixel coordinate
   * divided by 2^exponent is the level's (edges, not centres).
   */
  levelFor(shrink: number): { pixels: Pixels; exponent: number } {
    const exponent = Math.max(0, Math.floor(Math.log2(shrink)))
    while (this.levels.length <= exponent) {
      const last = this.levels.at(-1)!
      if (last.width < 2 || last.height < 2) break
      const [width, height] = [last.width >> 1, last.height >> 1]
      const data = new Uint8Array(width * height * 3)
      kernels.halveSize(last.data, last.width, last.height, data)
      this.levels.push({ data, width, height })
    }
    const reached = Math.min(exponent, this.levels.length - 1)
    return { pixels: this.levels[reached]!, exponent: reached }
  }

  /** Frees the pixels, the base's included. The pyramid cannot be used afterwards. */
  release(): void {
    for (const { data } of this.levels.splice(0)) kernels.releaseMemory(data)
  }
}
