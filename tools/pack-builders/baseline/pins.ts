/** SHA-256 of everything that goes into the baseline pack's networks and of everything that comes out. */

/** The npm package that carries the weights; package.json pins the same version. */
export const SOURCE_PACKAGE = '@vladmandic/face-api'
export const SOURCE_VERSION = '1.7.15'

/** The package's files that the build reads, from its `model` folder. The manifests hold shapes and quantisation. */
export const SOURCE_SHA256: Readonly<Record<string, string>> = {
  'tiny_face_detector_model-weights_manifest.json':
    '5d1af4849ac48d5b985f4a9b16010c512353ddd6fcc63d50fd0bc9e9e64296e5',
  'tiny_face_detector_model.bin': 'b7503ce7df31039b1c43316a9b865cab6a70dd748cc602d3fa28b551503c3871',
  'face_landmark_68_model-weights_manifest.json':
    'ca4886639f86e99b39fed0c155f81b63317225773bd9616716e887b0153389c9',
  'face_landmark_68_model.bin': '4611ef65c87d836d03d684b30eec4d195d8b219fa1dd58fc58945831c6b9299b',
  'face_recognition_model-weights_manifest.json':
    'cbaffa501b0b9275a12b63357a6843e7e30c054e1c9151e1a5f879b26e32986b',
  'face_recognition_model.bin': 'b413e420d6840b2775fba32008db6f3cddb07d485967fb42cfcf379c16a8c589',
}

/** Sizes in bytes. Where a change here moves embeddings by more than rounding does, it is a new model: raise the pack's version. */
export const NETWORK_PINS = {
  'detector.onnx': {
    sha256: '8f317f3c926ee11969ed4998ba9323f1a47e14e103e78ea071353a501ae2bd1a',
    bytes: 776_788,
  },
  'landmarks.onnx': {
    sha256: '78cc9ab7dbfd1231afc3f61abcf549807dd14e5f45e41021196db9bcf6099c1b',
    bytes: 1_437_170,
  },
  'embedder.onnx': {
    sha256: '8071b0c10181572bd18de4d341c967d338ea1f6ab6cdce0bcda493a3655e5d84',
    bytes: 22_441_767,
  },
  'embedder-int8.onnx': {
    sha256: '2ccdc571991bc138d996095a6afe2c4d29045895abf145a7d3c5f2f8eef621aa',
    bytes: 5_809_644,
  },
} as const
