/**
 * Selects the kernels: the native ones where the addon was built, their TypeScript twins elsewhere. Both give the
 * same numbers.
 */
import { createRequire } from 'node:module'
import { decodeBase64 } from './base64.js'
import { dotMany } from './dot-many.js'
import { halveSize } from './half-size.js'
import { mirrorPlanar } from './planar-mirror.js'
import { resizeToPlanar } from './planar-resize.js'
import { warpToPlanar } from './planar-warp.js'
import { releaseFreePages, releaseMemory } from './release-memory.js'

export interface Kernels {
  resizeToPlanar: typeof resizeToPlanar
  warpToPlanar: typeof warpToPlanar
  halveSize: typeof halveSize
  mirrorPlanar: typeof mirrorPlanar
  dotMany: typeof dotMany
  decodeBase64: typeof decodeBase64
  releaseMemory: typeof releaseMemory
  releaseFreePages: typeof releaseFreePages
}

export const typescriptKernels: Kernels = {
  resizeToPlanar,
  warpToPlanar,
  halveSize,
  mirrorPlanar,
  dotMany,
  decodeBase64,
  releaseMemory,
  releaseFreePages,
}

/** The addon, or null with the reason where it was not built or does not load. Safe to load in several threads. */
export const nativeKernels: { kernels: Kernels; reason: null } | { kernels: null; reason: string } =
  loadNative()

export const kernels: Kernels = nativeKernels.kernels ?? typescriptKernels

/**
 * Exports of the addon. The two kernels with regions take numbers: reading as many properties from C++ was measured
 * to take 3 µs a call, unpacking them here nothing.
 */
interface Addon extends Omit<Kernels, 'resizeToPlanar' | 'warpToPlanar'> {
  resizeToPlanar(
    source: Uint8Array,
    sourceWidth: number,
    left: number,
    top: number,
    width: number,
    height: number,
    out: Float32Array,
    outWidth: number,
    outHeight: number,
    toLeft: number,
    toTop: number,
    toWidth: number,
    toHeight: number,
    swap: boolean,
    mean: Float64Array,
    scale: Float64Array,
  ): void
  warpToPlanar(
    source: Uint8Array,
    width: number,
    height: number,
    chipToSource: Float64Array,
    out: Float32Array,
    outWidth: number,
    outHeight: number,
    swap: boolean,
    mean: Float64Array,
    scale: Float64Array,
  ): void
}

function loadNative(): typeof nativeKernels {
  try {
    return { kernels: withRegions(createRequire(import.meta.url)('#native-kernels') as Addon), reason: null }
  } catch (error) {
    return { kernels: null, reason: (error as Error).message.split('\n')[0]! }
  }
}

function withRegions(addon: Addon): Kernels {
  return {
    // An addon that was built before a kernel existed lacks it: the twin serves until the addon is built again.
    ...typescriptKernels,
    ...addon,
    resizeToPlanar: ({ data, width }, from, out, to, { swap, mean, scale }) =>
      addon.resizeToPlanar(
        data,
        width,
        from.x,
        from.y,
        from.width,
        from.height,
        out.data,
        out.width,
        out.height,
        to.x,
        to.y,
        to.width,
        to.height,
        swap,
        mean,
        scale,
      ),
    warpToPlanar: ({ data, width, height }, chipToSource, out, { swap, mean, scale }) =>
      addon.warpToPlanar(
        data,
        width,
        height,
        chipToSource,
        out.data,
        out.width,
        out.height,
        swap,
        mean,
        scale,
      ),
  }
}
