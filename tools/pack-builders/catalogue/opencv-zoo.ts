/** YuNet and SFace of the OpenCV Zoo, downloaded. */
import { ARCFACE_TARGET } from '../build/arcface-target.js'
import {
  type CatalogueDownload,
  type CatalogueFile,
  downloadedNetwork,
  type PulledPack,
} from '../build/catalogue-entry.js'

const REPOSITORY = 'opencv/opencv_zoo'
/** Commit of 2025-05-29. */
const COMMIT = '966be4cb6eefc2a4f586ed0581bf4bbaa2533070'

export const OPENCV_ZOO: PulledPack = {
  kind: 'pulled',
  id: 'opencv-zoo',
  title: 'OpenCV Zoo: YuNet and SFace, not calibrated',
  files: [
    {
      role: 'detector',
      file: 'face_detection_yunet_2023mar.onnx',
      sha256: '8f2383e4dd3cfbb4553ea8718107fc0423210dc964f9f4280604804ed2552fa4',
      bytes: 232_589,
      licence: 'MIT',
      download: inTheZoo('models/face_detection_yunet/face_detection_yunet_2023mar.onnx'),
    },
    {
      role: 'embedder',
      file: 'face_recognition_sface_2021dec.onnx',
      sha256: '0ba9fbfa01b5270c96627c4ef784da859931e02f04419c829e83484087c34e79',
      bytes: 38_696_353,
      licence: 'Apache-2.0',
      download: inTheZoo('models/face_recognition_sface/face_recognition_sface_2021dec.onnx'),
    },
  ],
  built: [],
  document: packDocument,
}

/** Both networks take bytes as they are. */
const RAW = { mean: [0, 0, 0], scale: [1, 1, 1] } as const

/** Fresh on every call; key order and numbers never vary. */
function packDocument(files: readonly CatalogueFile[]) {
  return {
    format: 1,
    id: OPENCV_ZOO.id,
    version: '2025.05.29',
    description: OPENCV_ZOO.title,
    // FaceDetectorYN feeds it so. 0.6 is the threshold of the Zoo's YuNet class and benchmark; the graph accepts no other size.
    detector: {
      ...downloadedNetwork(files, 'detector'),
      decoder: 'yunet',
      input: { color: 'bgr', ...RAW },
      sizes: [640],
      scoreThreshold: 0.6,
      nmsIou: 0.3,
    },
    // FaceRecognizerSF feeds it so, and takes the cosine of the two features.
    embedder: {
      ...downloadedNetwork(files, 'embedder'),
      input: { width: 112, height: 112, color: 'rgb', ...RAW },
      alignment: {
        source: [0, 1, 2, 3, 4],
        target: ARCFACE_TARGET,
      },
      dimensions: 128,
      normalize: true,
      flipAverage: false,
      metric: 'cosine',
    },
    calibration: {
      source:
        'The publisher calls a pair with a cosine of 0.363 the same person and states an accuracy of 0.9940 on the 6,000 pairs ' +
        'of LFW, but no false match rate: 36 errors, were all of them false matches, are 1.2 % of the 3,000 impostor pairs. ' +
        'No more than that bound is known; calibrate on your own captures (countersign evaluate) before relying on it.',
      points: [{ fmr: 0.012, threshold: 0.363, measured: false }],
    },
  }
}

function inTheZoo(path: string): CatalogueDownload {
  return {
    repository: REPOSITORY,
    commit: COMMIT,
    path,
    // The repository holds Git LFS pointers; this host serves the files that they point to.
    url: `https://media.githubusercontent.com/media/${REPOSITORY}/${COMMIT}/${path}`,
  }
}
