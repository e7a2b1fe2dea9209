/** The pack to be pulled for production: the baseline's detector and landmarks, built, and two networks of public repositories. */

import { ACTIVE_LIVENESS_68 } from '../../../models/pack/active-liveness.js'
import { baselineNetwork } from '../baseline/build-baseline.js'
import { baselinePackDocument } from '../baseline/pack-document.js'
import { NETWORK_PINS } from '../baseline/pins.js'
import {
  type CatalogueDownload,
  type CatalogueFile,
  downloadedNetwork,
  type PulledPack,
} from '../build/catalogue-entry.js'
import { shippedCalibration, statedCalibration } from '../calibration/shipped.js'
import { ARCFACE_ALIGNMENT } from '../standard/alignment.js'
import { LAST_RESORT_SCORE } from '../standard/pack-document.js'

/** Part of every stored reference's model id: raise it whenever embeddings change by more than rounding. */
export const RECOMMENDED_VERSION = '1.0.0'

/** The networks of face-api that the packs share, as they are built. */
export const FACE_API_FILES: readonly CatalogueFile[] = [
  { role: 'detector', file: 'detector.onnx', ...NETWORK_PINS['detector.onnx'], licence: 'MIT' },
  { role: 'landmarks', file: 'landmarks.onnx', ...NETWORK_PINS['landmarks.onnx'], licence: 'MIT' },
]

const EMBEDDER: CatalogueFile = {
  role: 'embedder',
  file: 'mobilefacenet.onnx',
  sha256: 'b7120c095d60094f28a4a54ba6a8bf51b297a6273fb40ef6350dfec1f63d9507',
  bytes: 3_998_070,
  licence: 'Apache-2.0',
  download: onGitHub(
    'foamliu/MobileFaceNet',
    'a6cc9032a659b615f477833e1a70b5e7931bcccc',
    'weights/MobileFaceNet.onnx',
  ),
}

const LIVENESS: CatalogueFile = {
  role: 'liveness',
  file: 'minifasnet.onnx',
  sha256: 'f0616a1c7123d4978623910241b812943d2d5bba032eac26cc0416764517ef4a',
  bytes: 1_744_126,
  licence: 'Apache-2.0 (weights, Minivision); MIT (conversion)',
  download: onGitHub(
    'fizray/project-ineffa',
    '4ff8a47a372d1e422a3ba8f33775fc889ed7fca3',
    'models/2.7_80x80_MiniFASNetV2.onnx',
  ),
}

export const RECOMMENDED: PulledPack = {
  kind: 'pulled',
  id: 'recommended',
  title:
    'Recommended: tiny face detector, 68 landmarks, MobileFaceNet of foamliu and MiniFASNet for liveness',
  files: [...FACE_API_FILES, EMBEDDER, LIVENESS],
  built: [baselineNetwork('detector.onnx'), baselineNetwork('landmarks.onnx')],
  document: recommendedPackDocument,
  calibration: () => shippedCalibration('recommended'),
}

/** Chosen as the baseline's: at 1e-3 it would be 1.2 turns in a hundred. */
const MOVED_FACE_FMR = 0.002

/** Fresh on every call; key order and numbers never vary. */
function recommendedPackDocument(files: readonly CatalogueFile[]) {
  const { detector, landmarks } = baselinePackDocument()
  const livenessNetwork = downloadedNetwork(files, 'liveness')
  return {
    format: 1,
    id: RECOMMENDED.id,
    version: RECOMMENDED_VERSION,
    description: RECOMMENDED.title,
    detector: { ...detector, lastResortScoreThreshold: LAST_RESORT_SCORE },
    landmarks,
    embedder: {
      ...downloadedNetwork(files, 'embedder'),
      trainingData:
        'a refined MS-Celeb-1M, as the author says; MS-Celeb-1M was published for research alone and withdrawn in 2019',
      // The mean and deviation of ImageNet's colours, in bytes.
      input: {
        width: 112,
        height: 112,
        color: 'rgb',
        mean: [123.675, 116.28, 103.53],
        scale: [1 / 58.395, 1 / 57.12, 1 / 57.375],
      },
      alignment: ARCFACE_ALIGNMENT,
      dimensions: 128,
      normalize: true,
      flipAverage: true,
      metric: 'cosine',
    },
    liveness: {
      decoder: 'minifasnet',
      networks: [
        {
          ...livenessNetwork,
          origin:
            `${livenessNetwork.origin}; converted there from 2.7_80x80_MiniFASNetV2.pth of ` +
            'github.com/minivision-ai/Silent-Face-Anti-Spoofing (Apache-2.0)',
          trainingData: 'not published',
          input: { width: 80, height: 80, color: 'bgr', mean: [0, 0, 0], scale: [1, 1, 1] },
          cropScale: 2.7,
        },
      ],
      liveClass: 1,
      threshold: 0.5,
      // Less have 35 of 37 pictures of a face and little else, which it distinguishes badly, and 1 of 11 of the living as cameras see them.
      leastCropShare: 0.5,
    },
    activeLiveness: { ...ACTIVE_LIVENESS_68, movedFaceFmr: MOVED_FACE_FMR },
    // The value is the standard pack's.
    replayScore: 0.985,
    calibration: statedCalibration('recommended'),
  }
}

function onGitHub(repository: string, commit: string, path: string): CatalogueDownload {
  return {
    repository,
    commit,
    path,
    url: `https://raw.githubusercontent.com/${repository}/${commit}/${path}`,
  }
}
