/**
 * Selects the kernels: the native ones where the addon was built, their TypeScript twins elsewhere. Both give the
 * same numbers.
 */
import { type Kernels, type NativeAddon, nativeAddon } from './addon.js'
import { decodeBase64 } from './base64.js'
import { dotMany } from './dot-many.js'
import { halveSize } from './half-size.js'
import { mirrorPlanar } from './planar-mirror.js'
import { resizeToPlanar } from './planar-resize.js'
import { warpToPlanar } from './planar-warp.js'
import { releaseFreePages, releaseMemory } from './release-memory.js'

export type { Kernels }

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

/** The kernels of the addon, or null with the reason where it was not built or does not load. Safe to load in several threads. */
export const nativeKernels = nativeAddon.addon
  ? { kernels: withRegions(nativeAddon.addon), reason: null }
  : { kernels: null, reason: nativeAddon.reason }

export const kernels: Kernels = nativeKernels.kernels ?? typescriptKernels

function withRegions(addon: NativeAddon): Kernels {
  return {
    // The twin serves where the addon lacks a kernel.
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
