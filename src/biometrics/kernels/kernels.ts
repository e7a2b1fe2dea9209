/** The kernels in use: the native ones where the addon was built, their TypeScript twins elsewhere. Both give the same numbers. */
import { createRequire } from 'node:module'
import { decodeBase64 } from './base64.js'
import { dotMany } from './dot-many.js'
import { halveSize } from './half-size.js'
import { mirrorPlanar } from './planar-mirror.js'
import { resizeToPlanar } from './planar-resize.js'
import { warpToPlanar } from './planar-warp.js'
import { releaseMemory } from './release-memory.js'
import { dot, euclideanDistance } from './vector-math.js'

export interface Kernels {
  resizeToPlanar: typeof resizeToPlanar
  warpToPlanar: typeof warpToPlanar
  halveSize: typeof halveSize
  mirrorPlanar: typeof mirrorPlanar
  dot: typeof dot
  euclideanDistance: typeof euclideanDistance
  dotMany: typeof dotMany
  decodeBase64: typeof decodeBase64
  releaseMemory: typeof releaseMemory
}

export const typescriptKernels: Kernels = {
  resizeToPlanar,
  warpToPlanar,
  halveSize,
  mirrorPlanar,
  dot,
  euclideanDistance,
  dotMany,
  decodeBase64,
  releaseMemory,
}

/** Null, with the reason, where the addon was not built or does not load. Safe to load in several threads. */
export const nativeKernels: { kernels: Kernels; reason: null } | { kernels: null; reason: string } =
  loadNative()

/** Entering the addon costs more than the few hundred multiplications of a 1:1 comparison: those stay in TypeScript. */
export const kernels: Kernels = nativeKernels.kernels
  ? { ...nativeKernels.kernels, dot, euclideanDistance }
  : typescriptKernels

function loadNative(): typeof nativeKernels {
  try {
    return { kernels: createRequire(import.meta.url)('#native-kernels') as Kernels, reason: null }
  } catch (error) {
    return { kernels: null, reason: (error as Error).message.split('\n')[0]! }
  }
}
