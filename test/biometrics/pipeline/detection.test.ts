import { describe, expect, it } from 'vitest'
import { chooseFace } from '../../../src/biometrics/pipeline/judge/face-policy.js'
import { scaleWithin } from '../../../src/biometrics/pipeline/judge/liveness-room.js'
import {
  type Detection,
  intersectionOverUnion,
  suppressOverlaps,
} from '../../../src/biometrics/pipeline/networks/detection.js'
import { decodeTinyYoloV2 } from '../../../src/biometrics/pipeline/networks/detector-tiny-yolov2.js'
import { decodeYunetHead } from '../../../src/biometrics/pipeline/networks/detector-yunet.js'
import { clipToPixels } from '../../../src/biometrics/pipeline/networks/landmarks.js'
import { widenBox } from '../../../src/biometrics/pipeline/networks/liveness.js'

function face(x: number, y: number, width: number, height: number, score = 0.9): Detection {
  return { box: { x, y, width, height }, score, points: null }
}

describe('the Tiny YOLO v2 grid', () => {
  const grid = new Float32Array(2 * 5 * 3 * 3).fill(-20)
  const put = (anchor: number, k: number, cell: number, value: number) => {
    grid[(anchor * 5 + k) * 9 + cell] = value
  }
  // The second anchor's cell in row 1, column 2.
  for (const [k, value] of [0, Math.log(3), Math.log(0.5), 0, 2].entries()) put(1, k, 5, value)
  const anchors = [
    [1, 1],
    [1.5, 2],
  ] as const

  it('a Tiny YOLO v2 grid is read by cell, anchor, sigmoid and exponential', () => {
    const [only, ...others] = decodeTinyYoloV2(grid, 3, 3, 96, anchors, 0.5)
    expect(others).toEqual([])
    expect(only!.score).toBeCloseTo(1 / (1 + Math.exp(-2)), 6)
    expect(only!.box.width).toBeCloseTo(0.5 * 1.5 * 32, 4)
    expect(only!.box.height).toBeCloseTo(2 * 32, 4)
    expect(only!.box.x + only!.box.width / 2).toBeCloseTo((2 + 0.5) * 32, 4)
    expect(only!.box.y + only!.box.height / 2).toBeCloseTo((1 + 0.75) * 32, 4)
  })

  it('only strictly higher scores are kept', () => {
    const flat = new Float32Array(5 * 9).fill(0)
    expect(decodeTinyYoloV2(flat, 3, 3, 96, [[1, 1]], 0.5)).toEqual([])
    expect(decodeTinyYoloV2(flat.fill(Number.NaN), 3, 3, 96, [[1, 1]], 0.5)).toEqual([])
  })
})

it('a YuNet head is read by stride, with clamped probabilities', () => {
  const [cls, obj] = [new Float32Array(8), new Float32Array(8)]
  const [bbox, kps] = [new Float32Array(32), new Float32Array(80)]
  cls[6] = 1.5
  obj[6] = 0.64
  bbox.set([0.25, -0.5, Math.log(3), Math.log(4)], 24)
  for (let j = 0; j < 5; j++) kps.set([j / 10, -j / 5], 60 + 2 * j)
  const [only, ...others] = decodeYunetHead({ stride: 16, cls, obj, bbox, kps }, 64, 0.5)
  expect(others).toEqual([])
  expect(only!.score).toBeCloseTo(0.8, 6)
  expect(only!.box.width).toBeCloseTo(48, 4)
  expect(only!.box.height).toBeCloseTo(64, 4)
  expect(only!.box.x + 24).toBeCloseTo(2.25 * 16, 4)
  expect(only!.box.y + 32).toBeCloseTo(0.5 * 16, 4)
  expect(only!.points![8]).toBeCloseTo(2.4 * 16, 4)
  expect(only!.points![9]).toBeCloseTo((1 - 0.8) * 16, 4)
})

describe('overlapping detections', () => {
  it('overlap is measured as intersection over union', () => {
    const [a, b] = [face(0, 0, 10, 10).box, face(5, 0, 10, 10).box]
    expect(intersectionOverUnion(a, b)).toBeCloseTo(50 / 150, 12)
    expect(intersectionOverUnion(a, face(20, 0, 5, 5).box)).toBe(0)
  })

  it('overlapping detections leave the best one of each group', () => {
    const faces = [face(0, 0, 10, 10, 0.6), face(1, 0, 10, 10, 0.9), face(30, 0, 10, 10, 0.7)]
    expect(suppressOverlaps(faces, 0.4).map(({ score }) => score)).toEqual([0.9, 0.7])
  })
})

describe('the face that is meant', () => {
  const limits = { minFacePx: 80, secondFaceRatio: 0.5 }
  const frame = (sourceScale: number) => ({ width: 640, height: 480, sourceScale })

  it('the main face is the largest', () => {
    const chosen = chooseFace([face(0, 0, 45, 50), face(0, 0, 100, 110)], frame(1), limits)
    expect(chosen.face.box.width).toBe(100)
    expect(chosen.faces).toEqual({ count: 2, isLargestCentral: true })
  })

  it('the main face is the one nearest the middle if the limits say so', () => {
    const faces = [face(0, 0, 200, 210), face(280, 180, 90, 100), face(500, 300, 95, 100)]
    const chosen = chooseFace(faces, frame(1), { ...limits, face: 'centre' })
    expect(chosen.face).toBe(faces[1])
    expect(chosen.faces).toEqual({ count: 3, isLargestCentral: false })
  })

  it('the main face must exist, have no rival of its size, and be large enough between its outer edges', () => {
    const code = (faces: Detection[], scale = 1) => {
      try {
        return chooseFace(faces, frame(scale), limits, 3).face.box.width
      } catch (error) {
        expect(error).toMatchObject({ imageIndex: 3 })
        return (error as { code: string }).code
      }
    }
    expect(code([])).toBe('face_not_found')
    expect(code([face(0, 0, 100, 100), face(200, 0, 50, 50)])).toBe('multiple_faces')
    expect(code([face(0, 0, 79, 90)])).toBe('face_too_small')
    expect(code([face(0.5, 0, 79, 90)])).toBe(79)
    expect(code([face(0, 0, 40, 50)], 2)).toBe(40)
  })
})

it('crops for landmarks are clipped and never empty', () => {
  const box = { x: -5.5, y: 3.2, width: 20, height: 8.1 }
  expect(clipToPixels(box, 1, 100, 100)).toEqual({ x: 0, y: 3, width: 14, height: 8 })
  const outside = { x: 300, y: 300, width: 5, height: 5 }
  expect(clipToPixels(outside, 1, 100, 100)).toEqual({ x: 99, y: 99, width: 1, height: 1 })
})

it('crops for liveness keep their size and move inside the picture', () => {
  expect(widenBox({ x: 100, y: 100, width: 20, height: 30 }, 2, 400, 300)).toEqual({
    x: 90,
    y: 85,
    width: 41,
    height: 61,
  })
  expect(widenBox({ x: 0, y: 0, width: 20, height: 30 }, 2, 400, 300)).toEqual({
    x: 0,
    y: 0,
    width: 41,
    height: 61,
  })
  // The crop is as high as the picture allows, and moved left from the right edge.
  const clamped = widenBox({ x: 350, y: 50, width: 100, height: 150 }, 4, 480, 300)
  expect(clamped).toMatchObject({ y: 0, height: 300 })
  expect(clamped.x + clamped.width).toBe(480)
})

it('crops for liveness are as wide as the picture has room for, wherever the face is', () => {
  expect(scaleWithin({ x: 0, y: 0, width: 20, height: 30 }, 2.7, 400, 300)).toBe(2.7)
  expect(scaleWithin({ x: 350, y: 50, width: 100, height: 149.9 }, 4, 480, 299)).toBe(2)
  expect(scaleWithin({ x: 0, y: 0, width: 100, height: 100 }, 4, 201, 500)).toBe(2)
})
