/** Selects the kernels for the bodies of requests: the service's main thread needs no others. */
import { type Kernels, nativeAddon } from './addon.js'
import { decodeBase64 } from './base64.js'
import { releaseMemory } from './release-memory.js'

export const bodyKernels: Pick<Kernels, 'decodeBase64' | 'releaseMemory'> = {
  decodeBase64,
  releaseMemory,
  ...nativeAddon.addon,
}
