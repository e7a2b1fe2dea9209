/** The rules of the signals that need no browser: names of cameras, sizes and rates, and times of pictures. */
import { describe, expect, expectTypeOf, it } from 'vitest'
import {
  type CaptureSignal,
  isMismatch,
  isTimingEven,
  isVirtualCamera,
} from '../../clients/capture/page/signal-rules.js'
import type { CLIENT_SIGNALS } from '../../src/verification/capture/capture-integrity.js'

it('the hosted page sends exactly the codes that the service takes', () => {
  expectTypeOf<CaptureSignal>().toEqualTypeOf<(typeof CLIENT_SIGNALS)[number]>()
})

describe('the name of a camera', () => {
  it.each([
    'OBS Virtual Camera',
    'OBS-Camera',
    'ManyCam Virtual Webcam',
    'Snap Camera',
    'XSplit VCam',
    'Dummy video device (0x0000)',
    'v4l2loopback',
    'fake_device_0',
    '/tmp/film.y4m',
    'C:\\film.mjpeg',
    'mmhmm Camera',
    'NDI Video',
  ])('shows that it is virtual: %s', (label) => {
    expect(isVirtualCamera(label)).toBe(true)
  })

  it.each([
    'FaceTime HD Camera',
    'Integrated Camera (04f2:b6d9)',
    'HD Pro Webcam C920 (046d:082d)',
    'Logitech BRIO',
    'camera2 1, facing front',
    'iPhone von Robin Kamera',
    'Surface Camera Front',
    'Observatory Webcam',
    'Camouflage Cam',
    '',
  ])('does not show it: %j', (label) => {
    expect(isVirtualCamera(label)).toBe(false)
  })
})

/** Times as Chromium's fake device gave them, in seconds, at 20 pictures a second. */
const DEVICE = [
  0.194316, 0.244087, 0.302045, 0.344361, 0.394395, 0.44451, 0.494574, 0.544351, 0.602066, 0.644077, 0.69404,
  0.743874, 0.793756, 0.843603, 0.893722, 0.945216, 0.993895, 1.080456, 1.094155, 1.144466,
]
/** Times that a program counts up, in microseconds, at 30 pictures a second. */
const counted = (count: number) =>
  Array.from({ length: count }, (_, index) => Math.round((index * 1e6) / 30) / 1e6)

describe('the times of pictures', () => {
  it('are not even where they waver as those of a device do', () => {
    expect(isTimingEven(DEVICE)).toBe(false)
  })

  it('are even where a program counts them up, also when pictures were dropped', () => {
    expect(isTimingEven(counted(40))).toBe(true)
    expect(isTimingEven(counted(40).filter((_, index) => index % 7 !== 3))).toBe(true)
  })

  it('are judged without those that are there twice, which happens with every camera', () => {
    expect(isTimingEven([...DEVICE, DEVICE.at(-1)!])).toBe(false)
    expect(isTimingEven(counted(20).flatMap((time) => [time, time]))).toBe(true)
  })

  it('are not even where two pictures came nearly at once', () => {
    expect(isTimingEven([...DEVICE, DEVICE.at(-1)! + 0.00002])).toBe(false)
  })

  it('are not judged where there are fewer than 16', () => {
    expect(isTimingEven(counted(15))).toBe(false)
    expect(isTimingEven(counted(16))).toBe(true)
  })
})

describe('the settings of a camera', () => {
  const camera = { width: 640, height: 480, frameRate: 30 }

  it('fit pictures of their size, also turned, and of their rate or a lower one', () => {
    expect(isMismatch(camera, [640, 480], counted(40))).toBe(false)
    expect(isMismatch(camera, [480, 640], counted(40))).toBe(false)
    expect(isMismatch({ ...camera, frameRate: 60 }, [640, 480], counted(40))).toBe(false)
    expect(isMismatch({ width: 640, height: 480 }, [640, 480], counted(40))).toBe(false)
  })

  it('do not fit pictures of another size or of more than one and a half times the rate', () => {
    expect(isMismatch(camera, [641, 480], [])).toBe(true)
    expect(isMismatch({ ...camera, frameRate: 19 }, [640, 480], counted(40))).toBe(true)
    expect(isMismatch({ ...camera, frameRate: 21 }, [640, 480], counted(40))).toBe(false)
  })
})
