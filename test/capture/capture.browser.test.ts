/** `<countersign-capture>` in a real browser, where one is installed (`apt install chromium`), with a camera that shows a film. */
import type { Browser, Page } from 'playwright-core'
import sharp from 'sharp'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { CHROMIUM, violations } from '../support/browser.js'
import {
  type CameraPages,
  INSECURE_HOST,
  launchBeforeFilm,
  serveCameraPages,
} from '../support/camera-page.js'
import { CaptureVisit, PATIENT_CHALLENGE, type Visit } from '../support/capture-visit.js'
import { FILM, writeFilm } from '../support/film.js'

/** A picture that is red on the left and blue on the right, with a gray band that differs from frame to frame. */
async function picture(index: number): Promise<Buffer> {
  const { width, height } = FILM
  const area = (width: number, height: number, r: number, g: number, b: number) => ({
    create: { width, height, channels: 3 as const, background: { r, g, b } },
  })
  const grey = 40 + index * 10
  return sharp(area(width, height, 200, 20, 20))
    .composite([
      { input: area(width / 2, height, 20, 20, 200), left: width / 2, top: 0 },
      { input: area(width, 40, grey, grey, grey), left: 0, top: height - 40 },
    ])
    .png()
    .toBuffer()
}

const STEPS = ['frontal', 'turn_left', 'nod_up', 'frontal']
const CHALLENGE = { ...PATIENT_CHALLENGE, steps: STEPS }

const NEVER = 'navigator.mediaDevices.getUserMedia = () => new Promise(() => {})'

describe.skipIf(!CHROMIUM)('the capture component in Chromium', { timeout: 90_000 }, () => {
  let browser: Browser
  let pages: CameraPages
  let visited: CaptureVisit
  let page: Page
  let complaints: string[]

  beforeAll(async () => {
    browser = await launchBeforeFilm(async (film) =>
      writeFilm(film, await Promise.all(Array.from({ length: 20 }, (_, index) => picture(index)))),
    )
    pages = await serveCameraPages()
  })
  afterAll(async () => {
    await browser?.close()
    await pages?.stop()
  })
  afterEach(() => visited.close())

  async function visit(query: string, options?: Visit): Promise<void> {
    visited = await CaptureVisit.open(browser, pages, query, options)
    ;({ page, complaints } = visited)
  }
  const decode = (url: string) => sharp(Buffer.from(url.split(',')[1]!, 'base64'))
  it('does not ask for the camera before it is started', async () => {
    await visit('mode=photo', {
      before: 'navigator.mediaDevices.getUserMedia = () => { throw new Error("asked") }',
    })
    expect(await page.getByRole('button').allTextContents()).toEqual(['Turn on camera'])
    expect(await page.evaluate('heard')).toEqual([])
    expect(complaints).toEqual([])
  })

  it('shows the typed action above everything, before the camera and with it', async () => {
    await visit('mode=photo')
    const lines = [
      { label: 'Amount', value: 'EUR\u00a01,250.00' },
      { label: 'Payee', value: 'دار الكتب <b>', note: 'Careful: а (U+0430)' },
    ]
    const box = page.locator('countersign-capture [part=action]')
    expect(await box.isVisible()).toBe(false)
    await page.evaluate(`it.display = ${JSON.stringify({ heading: 'Payment', lines })}`)
    const texts = () => box.locator('strong, bdi, dd p').allInnerTexts()
    const expected = ['Payment', ...lines.flatMap((line) => Object.values(line))]
    expect(await texts()).toEqual(expected)
    await visited.startCamera()
    await visited.hear('cs-ready')
    expect(await texts()).toEqual(expected)
    const top = async (part: string) => (await page.locator(`[part=${part}]`).boundingBox())!.y
    expect(await top('action')).toBeLessThan(await top('stage'))
    expect(complaints).toEqual([])
  })

  it('hands over the photo unmirrored although the preview is a mirror, and turns the camera off', async () => {
    await visit('mode=photo')
    await visited.startCamera()
    expect((await visited.hear('cs-ready')).detail).toEqual({ width: FILM.width, height: FILM.height })
    expect(await page.evaluate("getComputedStyle(it.shadowRoot.querySelector('video')).transform")).toBe(
      'matrix(-1, 0, 0, 1, 0, 0)',
    )
    expect(await visited.focused()).toBe('Take photo')
    await page.keyboard.press('Enter')
    await visited.hear('cs-capture')
    const [photo] = await visited.images('images')
    expect(photo).toMatch(/^data:image\/jpeg;/)
    const { data, info } = await decode(photo!).raw().toBuffer({ resolveWithObject: true })
    expect([info.width, info.height]).toEqual([FILM.width, FILM.height])
    const pixel = (x: number) => [...data.subarray((50 * info.width + x) * 3, (50 * info.width + x) * 3 + 3)]
    const [left, right] = [pixel(20), pixel(300)]
    expect(left[0]! - left[2]!).toBeGreaterThan(100)
    expect(right[2]! - right[0]!).toBeGreaterThan(100)
    expect(await visited.trackState()).toBe('ended')
    expect(await visited.focused()).toContain('Captured')
    expect(complaints).toEqual([])
  })

  it('makes a photo no larger than the longest side that the page sets', async () => {
    await visit('mode=photo&max-side=160')
    await visited.takePhoto()
    const { width, height } = await decode((await visited.images('images'))[0]!).metadata()
    expect([width, height]).toEqual([160, 120])
  })

  it.each([
    ['1', 1],
    ['85', 0.85],
    ['-1', 0.85],
  ])(
    'encodes with a quality between 0 and 1, or else with the default: %s is %d',
    async (quality, expected) => {
      await visit(`mode=photo&quality=${quality}`, {
        before: `{
        const encode = HTMLCanvasElement.prototype.toBlob
        HTMLCanvasElement.prototype.toBlob = function (done, type, quality) {
          globalThis.quality = quality
          encode.call(this, done, type, quality)
        }
      }`,
      })
      await visited.takePhoto()
      expect(await page.evaluate('quality')).toBe(expected)
    },
  )

  it('hands over the frames of a challenge with every step in order, no frame twice, and increasing times', async () => {
    await visit('mode=challenge&step-time=1000')
    await visited.startCamera()
    expect(await page.getByRole('button', { name: 'Begin' }).isDisabled()).toBe(true)
    await visited.setChallenge(CHALLENGE)
    await visited.click('Begin')
    await visited.hear('cs-capture')
    expect((await visited.heard('cs-step')).map(({ detail }) => detail)).toEqual(
      STEPS.map((name, step) => ({ step, name, steps: STEPS.length })),
    )
    const frames = (await page.evaluate(
      "heard.find(({ name }) => name === 'cs-capture').detail.frames.map(({ step, t_ms }) => ({ step, t_ms }))",
    )) as Array<{ step: number; t_ms: number }>
    expect(frames.length).toBeGreaterThanOrEqual(CHALLENGE.capture.min_frames)
    expect(frames.length).toBeLessThanOrEqual(CHALLENGE.capture.max_frames)
    expect(frames[0]).toEqual({ step: 0, t_ms: 0 })
    expect([...new Set(frames.map(({ step }) => step))]).toEqual([0, 1, 2, 3])
    for (const [index, { step, t_ms: tMs }] of frames.entries()) {
      const before = frames[index - 1]
      if (!before) continue
      expect(step).toBeGreaterThanOrEqual(before.step)
      expect(tMs - before.t_ms).toBeGreaterThanOrEqual(CHALLENGE.capture.min_interval_ms)
    }
    const pictures = await visited.images('frames.map(({ image }) => image)')
    expect(pictures.every((one) => one.startsWith('data:image/jpeg;'))).toBe(true)
    // The film has twenty pictures, and the time decides which of them is seen.
    expect(new Set(pictures).size).toBeGreaterThan(3)
    expect(await visited.trackState()).toBe('ended')
    expect(complaints).toEqual([])
  })

  it('turns the camera off on Escape, also during a challenge', async () => {
    await visit('mode=challenge')
    await visited.beginChallenge(CHALLENGE)
    await visited.hear('cs-step')
    await page.keyboard.press('Escape')
    await visited.hear('cs-cancel')
    expect(await visited.trackState()).toBe('ended')
    expect(await visited.focused()).toBe('Turn on camera')
    expect(await visited.heard('cs-capture')).toEqual([])
    expect(await visited.heard('cs-error')).toEqual([])
  })

  it('turns the camera off when it is removed from the page', async () => {
    await visit('mode=photo')
    await visited.startCamera()
    await page.evaluate('it.remove()')
    expect(await visited.trackState()).toBe('ended')
  })

  const REFUSALS: Array<[string, boolean, string, Visit]> = [
    ['insecure_context', false, '', { host: INSECURE_HOST, isAllowed: false }],
    [
      'unsupported',
      false,
      '',
      { before: "Object.defineProperty(navigator, 'mediaDevices', { value: undefined })" },
    ],
    ['permission', true, '', { isAllowed: false }],
    ['no_camera', true, 'camera-id=none', { before: refusing('NotFoundError') }],
    ['camera_busy', true, '', { before: refusing('NotReadableError') }],
    ['timeout', true, 'timeout=1', { before: NEVER }],
  ]
  it.each(REFUSALS)(
    'reports %s with its remedy, and moves the focus there',
    async (code, recoverable, query, how) => {
      await visit(`mode=photo&${query}`, how)
      await visited.click('Turn on camera')
      expect((await visited.hear('cs-error')).detail).toEqual({ code, recoverable })
      expect(await visited.focused()).toBe(
        await page.evaluate("it.shadowRoot.querySelector('[part=error]').textContent"),
      )
      expect(await page.getByRole('button').allTextContents()).toEqual(recoverable ? ['Try again'] : [])
      expect(await violations(page)).toEqual([])
    },
  )

  it('reminds the person of an unanswered permission prompt, and goes on after the answer', async () => {
    await visit('mode=photo', {
      before: `{
        const ask = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices)
        const answered = new Promise((resolve) => { globalThis.answer = resolve })
        navigator.mediaDevices.getUserMedia = (wish) => answered.then(() => ask(wish))
        const later = setTimeout
        globalThis.setTimeout = (work, ms) => later(work, ms === 10000 ? 1 : ms)
      }`,
    })
    await visited.click('Turn on camera')
    expect((await visited.hear('cs-error')).detail).toEqual({ code: 'prompt_ignored', recoverable: true })
    const said = page.locator('[aria-live=polite]').getByText('Your browser is waiting')
    expect(await said.isVisible()).toBe(true)
    await page.evaluate('answer()')
    await visited.hear('cs-ready')
    expect(await page.getByText('Your browser is waiting').isVisible()).toBe(false)
  })

  it.each([
    ['camera_lost', "track.dispatchEvent(new Event('ended'))"],
    [
      'hidden',
      "{ Object.defineProperty(document, 'hidden', { value: true }); document.dispatchEvent(new Event('visibilitychange')) }",
    ],
  ])('reports %s, turns the camera off, and tries again', async (code, event) => {
    await visit('mode=photo')
    await visited.startCamera()
    await page.evaluate(event)
    expect((await visited.hear('cs-error')).detail).toEqual({ code, recoverable: true })
    expect(await visited.trackState()).toBe('ended')
    await visited.click('Try again')
    await expect.poll(async () => (await visited.heard('cs-ready')).length).toBe(2)
  })

  it('asks once for another camera of the same side where the remembered one is gone', async () => {
    await visit('mode=photo&camera-id=gone', {
      before: `{
        globalThis.asked = []
        const ask = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices)
        navigator.mediaDevices.getUserMedia = (wish) => {
          asked.push(Object.keys(wish.video)[0])
          return ask(wish)
        }
      }`,
    })
    await visited.startCamera()
    expect(await page.evaluate('asked')).toEqual(['deviceId', 'facingMode'])
    expect(await page.evaluate("it.getAttribute('camera-id')")).toBe(null)
    expect(await visited.heard('cs-error')).toEqual([])
  })

  it('waits for a click where the browser shows no picture without one', async () => {
    await visit('mode=photo', {
      before: `{
        globalThis.refusals = 2
        const play = HTMLMediaElement.prototype.play
        HTMLMediaElement.prototype.play = function () {
          return refusals-- > 0 ? Promise.reject(new DOMException('', 'NotAllowedError')) : play.call(this)
        }
      }`,
    })
    await visited.click('Turn on camera')
    for (const left of [1, 0]) {
      await expect.poll(() => visited.focused()).toBe('Turn on camera')
      await expect.poll(() => page.evaluate('refusals')).toBe(left)
      expect(await visited.heard('cs-ready')).toEqual([])
      expect(await violations(page)).toEqual([])
      await visited.click('Turn on camera')
    }
    expect((await visited.hear('cs-ready')).detail).toEqual({ width: FILM.width, height: FILM.height })
  })

  for (const mode of ['photo', 'challenge'] as const)
    it.each([
      ['shows one colour', 'paint = () => fill("rgb(2 2 2)")'],
      ['stops', 'paint = () => {}'],
      [
        'is muted',
        'Object.defineProperty(track, "muted", { value: true }), track.dispatchEvent(new Event("mute"))',
      ],
    ])(`hands over nothing of a camera that %s (${mode})`, async (_, happening) => {
      await visit(`mode=${mode}`, { before: PAINTED })
      await visited.startCamera()
      await page.evaluate(happening)
      // Pictures from before are shown by now.
      await page.waitForTimeout(200)
      if (mode === 'challenge') await visited.setChallenge(CHALLENGE)
      if (!happening.includes('mute')) await page.evaluate('void it.capture()')
      expect((await visited.hear('cs-error')).detail).toEqual({ code: 'no_picture', recoverable: true })
      expect(await visited.heard('cs-capture')).toEqual([])
    })

  it('goes on where a camera is muted for a moment only', async () => {
    await visit('mode=photo', { before: PAINTED })
    await visited.startCamera()
    await page.evaluate("track.dispatchEvent(new Event('mute'))")
    await page.waitForTimeout(2500)
    expect(await visited.heard('cs-error')).toEqual([])
  })

  it('takes no picture twice: a browser that shows the same one again has no picture', async () => {
    await visit('mode=challenge', {
      before: `HTMLVideoElement.prototype.requestVideoFrameCallback = (seen) => requestAnimationFrame(() => seen(0, { mediaTime: 1 }))`,
    })
    await visited.beginChallenge(CHALLENGE)
    expect((await visited.hear('cs-error')).detail).toEqual({ code: 'no_picture', recoverable: true })
  })

  it('reports too_slow when the camera is late during a challenge, and timeout when the capture would come too late', async () => {
    await visit('mode=challenge', {
      before: `{
        const ask = HTMLVideoElement.prototype.requestVideoFrameCallback
        HTMLVideoElement.prototype.requestVideoFrameCallback = function (seen) {
          return setTimeout(() => ask.call(this, seen), 400)
        }
      }`,
    })
    await visited.beginChallenge({ ...CHALLENGE, capture: { ...CHALLENGE.capture, max_interval_ms: 300 } })
    expect((await visited.hear('cs-error')).detail).toEqual({ code: 'too_slow', recoverable: true })
    await visited.click('Try again')
    await visited.setChallenge({ ...CHALLENGE, expires_in: 1 })
    await visited.click('Begin')
    await expect
      .poll(async () => (await visited.heard('cs-error')).map(({ detail }) => detail.code))
      .toEqual(['too_slow', 'timeout'])
  })

  it('uses the language of the page, and the page’s own texts', async () => {
    await visit('mode=challenge&lang=ja')
    await page.getByRole('button', { name: 'カメラをオンにする' }).waitFor()
    await page.evaluate("it.lang = 'de-AT'")
    await page.getByRole('button', { name: 'Kamera einschalten' }).waitFor()
    await page.evaluate("it.messages = { start: 'Los' }")
    await page.getByRole('button', { name: 'Los' }).waitFor()
    await page.evaluate("it.lang = 'tlh'")
    expect(await page.getByText('Your camera is needed.').isVisible()).toBe(true)
  })

  for (const colorScheme of ['light', 'dark'] as const)
    it(`is accessible in every state and fits into 320 px (${colorScheme})`, async () => {
      await visit('mode=challenge', { colorScheme, viewport: { width: 320, height: 640 } })
      const look = (state: string) => visited.expectAccessible(`${state}-${colorScheme}`)
      await look('idle')
      await visited.startCamera()
      await visited.setChallenge({ ...CHALLENGE, steps: ['turn_left'] })
      await look('live')
      await page.evaluate("it.setAttribute('step-time', '20000')")
      await visited.click('Begin')
      await visited.hear('cs-step')
      await look('capturing')
      await page.keyboard.press('Escape')
      await look('cancelled')
    })
})

/** A camera that shows what `paint` draws: stripes that move. */
const PAINTED = `{
  const canvas = document.createElement('canvas')
  canvas.width = 320
  canvas.height = 240
  const brush = canvas.getContext('2d')
  globalThis.fill = (colour) => {
    brush.fillStyle = colour
    brush.fillRect(0, 0, 320, 240)
  }
  let at = 0
  globalThis.paint = () => {
    fill('white')
    brush.fillStyle = 'black'
    brush.fillRect((at += 7) % 300, 0, 20, 240)
  }
  setInterval(() => paint(), 40)
  navigator.mediaDevices.getUserMedia = async () => canvas.captureStream()
}`

function refusing(name: string): string {
  return `navigator.mediaDevices.getUserMedia = () => Promise.reject(new DOMException('', '${name}'))`
}
