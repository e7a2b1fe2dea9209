/** The signs of a replaced camera, in a real browser, where one is installed (`apt install chromium`). */
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CHROMIUM } from '../support/browser.js'
import {
  type CameraPages,
  launchBeforeFilm,
  launchWithCamera,
  serveCameraPages,
} from '../support/camera-page.js'
import { CaptureVisit } from '../support/capture-visit.js'

/** Draws into a canvas, so that its stream shows a moving picture. */
const CANVAS = `
  const canvas = Object.assign(document.createElement('canvas'), { width: 640, height: 480 })
  const pen = canvas.getContext('2d')
  setInterval(() => {
    pen.fillStyle = 'hsl(' + (performance.now() % 360) + ' 50% 50%)'
    pen.fillRect(0, 0, 640, 480)
  }, 33)`

/** Replaces the camera by a canvas, on the object as a page's own code would. */
const REPLACED = `${CANVAS}
  navigator.mediaDevices.getUserMedia = async () => canvas.captureStream(30)`

/** The same, hidden: the function prints as native, and no object has a property more than before. */
const HIDDEN = `${CANVAS}
  MediaDevices.prototype.getUserMedia = new Proxy(MediaDevices.prototype.getUserMedia, {
    apply: async () => canvas.captureStream(30),
  })`

/** A program that counts up the times of its pictures. */
const COUNTED = `
  MediaDevices.prototype.getUserMedia = new Proxy(MediaDevices.prototype.getUserMedia, {
    apply: async () => {
      const generator = new MediaStreamTrackGenerator({ kind: 'video' })
      const writer = generator.writable.getWriter()
      const canvas = new OffscreenCanvas(640, 480)
      const pen = canvas.getContext('2d')
      let count = 0
      setInterval(() => {
        pen.fillStyle = 'hsl(' + (count * 7) + ' 50% 50%)'
        pen.fillRect(0, 0, 640, 480)
        void writer.write(new VideoFrame(canvas, { timestamp: Math.round(count++ * 1e6 / 30) }))
      }, 33)
      return new MediaStream([generator])
    },
  })`

/** Settings of which one is wrong. */
const settings = (wrong: string) => `
  const own = MediaStreamTrack.prototype.getSettings
  MediaStreamTrack.prototype.getSettings = function () { return { ...own.call(this), ${wrong} } }`

const UNLISTED = 'MediaDevices.prototype.enumerateDevices = async () => []'
const OWN = 'navigator.mediaDevices.getUserMedia = MediaDevices.prototype.getUserMedia'
const SCRIPTED = `
  const own = MediaDevices.prototype.getUserMedia
  MediaDevices.prototype.getUserMedia = function getUserMedia(asked) { return own.call(this, asked) }`
const PRINTED = `${SCRIPTED}
  Function.prototype.toString = new Proxy(Function.prototype.toString, {
    apply: (_, { name }) => 'function ' + name + '() { [native code] }',
  })
  Object.defineProperty(Function.prototype.toString, 'name', { value: 'lie' })`

/** Another name for the camera. */
const labelled = (label: string) =>
  `Object.defineProperty(MediaStreamTrack.prototype, 'label', { get: () => ${JSON.stringify(label)} })`

describe.skipIf(!CHROMIUM)('the signals of a capture in Chromium', { timeout: 90_000 }, () => {
  let device: Browser
  let file: Browser
  let pages: CameraPages

  beforeAll(async () => {
    device = await launchWithCamera(undefined)
    file = await launchBeforeFilm()
    pages = await serveCameraPages()
  })
  afterAll(async () => {
    await device?.close()
    await file?.close()
    await pages?.stop()
  })

  /** The signals of three seconds, read when the camera is off again. */
  async function signalsOf(browser: Browser, before?: string): Promise<string[]> {
    const visit = await CaptureVisit.open(browser, pages, 'mode=challenge', before ? { before } : {})
    try {
      await visit.startCamera()
      return await visit.page.evaluate(`(async () => {
        const { CaptureWatch } = await import('/capture/page/capture-signals.js')
        const watch = new CaptureWatch(it.shadowRoot.querySelector('video'))
        await new Promise((resolve) => setTimeout(resolve, 3000))
        it.cancel()
        return watch.signals()
      })()`)
    } finally {
      await visit.close()
    }
  }

  const OTHER_FUNCTION = ['virtual_camera', 'replaced_function']
  const FROM_SCRIPT = ['replaced_function', 'synthetic_track', 'unlisted_camera']

  it.each([
    ['the fake device of Chromium by its name', undefined, ['virtual_camera']],
    ['a camera that the page’s own code replaced by a canvas', REPLACED, FROM_SCRIPT],
    ['the same when the function still prints as native', HIDDEN, FROM_SCRIPT],
    ['pictures whose times a program counts up', COUNTED, [...FROM_SCRIPT, 'frame_timing']],
    [
      'a camera whose settings name another size',
      settings('width: 1920'),
      [...OTHER_FUNCTION, 'settings_mismatch'],
    ],
    [
      'a camera that is faster than its settings',
      settings('frameRate: 5'),
      [...OTHER_FUNCTION, 'settings_mismatch'],
    ],
    ['a device that no list has', UNLISTED, ['virtual_camera', 'replaced_function', 'unlisted_camera']],
    ['a function on the object instead of its class', OWN, OTHER_FUNCTION],
    ['a function of a script', SCRIPTED, OTHER_FUNCTION],
    ['a function that prints all others as native', PRINTED, OTHER_FUNCTION],
  ])('name %s', async (_, before, expected) => {
    const found = await signalsOf(device, before)
    expect(found).toEqual(expected)
  })

  it('name a film that plays instead of a camera, by the name of its file', async () => {
    expect(await signalsOf(file)).toEqual(['virtual_camera'])
  })

  it('are none for a camera of another name that behaves as one', async () => {
    expect(await signalsOf(device, labelled('HD Pro Webcam C920'))).toEqual([])
  })
})
