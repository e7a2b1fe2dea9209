/** Selects the graphs (8 bits or float32) with which a pack runs. */
import type { ModelPack } from './model-pack.js'
import { networkFiles } from './network-files.js'
import type { NetworkFile } from './pack-schema.js'

export type Precision = 'float32' | '8-bit'

/** Whether any network of the pack has an 8-bit form. */
export function hasEightBitForm(pack: ModelPack): boolean {
  return networkFiles(pack.manifest).some(({ quantised }) => quantised)
}

/** The pack with nothing left to choose: every network in the precision named, or in the only form that there is. */
export function withPrecision(pack: ModelPack, precision: Precision): ModelPack {
  const only = <Network extends NetworkFile>({ quantised, ...network }: Network) =>
    ({ ...network, ...(precision === '8-bit' ? quantised : {}) }) as Network
  const { detector, landmarks, embedder, liveness, ...rest } = pack.manifest
  return {
    ...pack,
    manifest: {
      ...rest,
      detector: only(detector),
      ...(landmarks ? { landmarks: only(landmarks) } : {}),
      embedder: only(embedder),
      ...(liveness ? { liveness: { ...liveness, networks: liveness.networks.map(only) } } : {}),
    },
  }
}
