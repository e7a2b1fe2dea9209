/** The baseline pack's pack.json: how its networks are fed, how their outputs are read, and where they come from. */

import { ACTIVE_LIVENESS_68 } from '../../../models/pack/active-liveness.js'
import { statedCalibration } from '../calibration/shipped.js'
import { DETECTOR_ANCHORS } from './detector-graph.js'
import { EMBEDDER_DIMENSIONS, EMBEDDER_INPUT_PX } from './embedder-graph.js'
import { LANDMARKS_INPUT_PX } from './landmarks-graph.js'
import { NETWORK_PINS, SOURCE_PACKAGE, SOURCE_VERSION } from './pins.js'

/**
 * Part of every stored reference's model id: raise it whenever embeddings change by more than rounding. Those of the 8-bit
 * graph lie 0.02 from those of the float32 one, of 0.54 that decide, and move no error rate: both are one model.
 */
export const BASELINE_VERSION = '1.0.0'

/**
 * The five landmarks that dlib aligns by, as indices into the 68, and where they belong in a face that fills the
 * unit square (dlib's five-point mean shape): outer and inner corner of the subject's left eye, outer and inner
 * corner of the right eye, base of the nose.
 */
const DLIB_FIVE_POINTS = [
  { landmark: 45, at: [0.8595674595992, 0.2134981538014] },
  { landmark: 42, at: [0.6460604764104, 0.2289674387677] },
  { landmark: 36, at: [0.1205750620789, 0.2137274526848] },
  { landmark: 39, at: [0.3340850613712, 0.2290642403242] },
  { landmark: 33, at: [0.4901123135679, 0.6277975316475] },
] as const

/** Border that dlib leaves on each side of the unit square, as a fraction of it. */
const DLIB_CHIP_PADDING = 0.25

/** Recall falls to nothing at faces under 24 network pixels and again at soft, enlarged ones: two sizes cover both. */
const DETECTOR_SIZES_PX = [160, 416] as const

/**
 * A face this wide at 160 needs no second look: on lfw5 skipping it changes no figure for the worse (EER 0.9 instead of
 * 1.1 %), and a second face half as wide still has 32 network pixels. Saves four fifths of the detection of a close-up.
 */
const SUFFICIENT_FACE_PX = 64

/**
 * The strictest calibrated rate at which at most one in a hundred pairs of a person's photos, one looking ahead and one turned
 * or nodding as far as a challenge asks, is refused; at 5e-3 it is 1.7. docs/guides/liveness.md has the figures of every pack.
 */
const MOVED_FACE_FMR = 0.01

/** Mean and range are inside the graphs, so that padding with zeros means black, as it did in training. */
const RAW_RGB = { color: 'rgb', mean: [0, 0, 0], scale: [1, 1, 1] } as const

const PACKAGE = `npm ${SOURCE_PACKAGE} ${SOURCE_VERSION}`

/** Fresh on every call; key order and numbers never vary. */
export function baselinePackDocument() {
  return {
    format: 1,
    id: 'baseline',
    version: BASELINE_VERSION,
    description:
      `Built from the weights inside ${PACKAGE}: tiny face detector, 68 landmarks, dlib's face recognition ` +
      'network. For evaluation: it takes people of some groups for one another far too often.',
    detector: {
      file: 'detector.onnx',
      sha256: NETWORK_PINS['detector.onnx'].sha256,
      licence: 'MIT',
      origin: `${PACKAGE}, model/tiny_face_detector_model, dequantised to float32 and rebuilt as ONNX`,
      trainingData: 'about 14,000 photographs with marked faces, collected by the author; not published',
      decoder: 'tiny-yolov2',
      input: RAW_RGB,
      sizes: DETECTOR_SIZES_PX,
      sufficientFacePx: SUFFICIENT_FACE_PX,
      anchors: DETECTOR_ANCHORS,
      scoreThreshold: 0.5,
      nmsIou: 0.4,
    },
    landmarks: {
      file: 'landmarks.onnx',
      sha256: NETWORK_PINS['landmarks.onnx'].sha256,
      licence: 'MIT',
      origin: `${PACKAGE}, model/face_landmark_68_model, dequantised to float32 and rebuilt as ONNX`,
      trainingData: 'about 35,000 face images with 68 marked points, as the author says; not published',
      decoder: 'face-api-68',
      input: { width: LANDMARKS_INPUT_PX, height: LANDMARKS_INPUT_PX, ...RAW_RGB },
      flipAverage: true,
    },
    embedder: {
      file: 'embedder.onnx',
      sha256: NETWORK_PINS['embedder.onnx'].sha256,
      licence: 'MIT (conversion); public domain (weights)',
      origin:
        `${PACKAGE}, model/face_recognition_model, dequantised to float32 and rebuilt as ONNX; originally ` +
        'dlib_face_recognition_resnet_model_v1 by Davis King (github.com/davisking/dlib-models, public domain)',
      trainingData:
        'about 3 million faces of 7,485 people: FaceScrub, VGG Face and photographs from the web; the first two were published ' +
        'for research alone',
      quantised: {
        file: 'embedder-int8.onnx',
        sha256: NETWORK_PINS['embedder-int8.onnx'].sha256,
        origin:
          'embedder.onnx with weights and activations in 8 bits; ranges measured on the photographs in the package',
      },
      input: { width: EMBEDDER_INPUT_PX, height: EMBEDDER_INPUT_PX, ...RAW_RGB },
      alignment: {
        source: DLIB_FIVE_POINTS.map(({ landmark }) => landmark),
        target: DLIB_FIVE_POINTS.map(({ at }) => at.map(toChipPx)),
      },
      dimensions: EMBEDDER_DIMENSIONS,
      normalize: false,
      flipAverage: true,
      metric: 'euclidean',
    },
    activeLiveness: { ...ACTIVE_LIVENESS_68, movedFaceFmr: MOVED_FACE_FMR },
    // Its chips are larger than those of the other packs, and so softer.
    quality: { enrol: { sharpness: { min: 5 } } },
    // The value is the standard pack's.
    replayScore: 0.96,
    calibration: statedCalibration('baseline'),
  }
}

function toChipPx(coordinate: number): number {
  return ((DLIB_CHIP_PADDING + coordinate) / (1 + 2 * DLIB_CHIP_PADDING)) * EMBEDDER_INPUT_PX
}
