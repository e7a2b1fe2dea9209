/** Loads the native kernels. An addon that was built before a kernel existed lacks it. */
import { createRequire } from 'node:module'
import type { decodeBase64 } from './base64.js'
import type { dotMany } from './dot-many.js'
import type { halveSize } from './half-size.js'
import type { mirrorPlanar } from './planar-mirror.js'
import type { resizeToPlanar } from './planar-resize.js'
import type { warpToPlanar } from './planar-warp.js'
import type { releaseFreePages, releaseMemory } from './release-memory.js'

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

/** Numbers of a kernel with regions, as `withRegions` in `kernels.ts` lists them. */
type Unpacked = (...numbers: Array<Uint8Array | Float32Array | Float64Array | number | boolean>) => void

/**
 * Exports of the addon. The two kernels with regions take numbers: reading as many properties from C++ was measured
 * to take 3 µs a call, unpacking them here nothing.
 */
export interface NativeAddon extends Omit<Kernels, 'resizeToPlanar' | 'warpToPlanar'> {
  resizeToPlanar: Unpacked
  warpToPlanar: Unpacked
}

/** The addon, or null with the reason where it was not built or does not load. Safe to load in several threads. */
export const nativeAddon: { addon: NativeAddon; reason: null } | { addon: null; reason: string } = load()

function load(): typeof nativeAddon {
  try {
    return { addon: createRequire(import.meta.url)('#native-kernels') as NativeAddon, reason: null }
  } catch (error) {
    return { addon: null, reason: (error as Error).message.split('\n')[0]! }
  }
}
