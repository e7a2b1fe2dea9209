/** Guidance, consent, files and speech of the component, in a real browser whose camera sees a face. */
import type { Browser } from 'playwright-core'
import sharp from 'sharp'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { FRAME_GUIDANCE } from '../../clients/capture/guidance-codes.js'
import { CHROMIUM } from '../support/browser.js'
import { type Asked, type CameraPages, launchBeforeFilm, serveCameraPages } from '../support/camera-page.js'
import { CaptureVisit, PATIENT_CHALLENGE, type Visit } from '../support/capture-visit.js'
import { face } from '../support/faces.js'
import { FILM } from '../support/film.js'
import { heicHeader } from '../support/images.js'

const CHALLENGE = { ...PATIENT_CHALLENGE, steps: ['frontal', 'turn_left', 'frontal'] }
const GUIDED = 'guide-url=/guidance'

describe.skipIf(!CHROMIUM)('the capture component', { timeout: 120_000 }, () => {
  let browser: Browser
  let pages: CameraPages
  let visited: CaptureVisit
  let asked: Asked[]

  beforeAll(async () => {
    browser = await launchBeforeFilm()
    pages = await serveCameraPages()
  })
  afterAll(async () => {
    await browser?.close()
    await pages?.stop()
  })
  beforeEach(() => {
    asked = []
    answerWith(() => [])
  })
  afterEach(() => visited?.close())

  /** The backend's answers, by the step that is asked about. */
  function answerWith(guidance: (step: string | null) => string[]): void {
    pages.guide = async (question) => {
      asked.push(question)
      return [200, JSON.stringify({ guidance: guidance(question.step) })]
    }
  }
  async function visit(query: string, options?: Visit): Promise<CaptureVisit> {
    visited = await CaptureVisit.open(browser, pages, query, options)
    return visited
  }
  const hint = () => visited.shown('hint')
  const arrow = (): Promise<{ edge: string; to: string; width: number } | null> =>
    visited.page.evaluate(`(() => {
      const shown = it.shadowRoot.querySelector('[part=arrow]')
      return shown.checkVisibility() ? { ...shown.dataset, width: shown.getBoundingClientRect().width } : null
    })()`)
  const ovalIs = (name: string) =>
    visited.page.evaluate(`it.shadowRoot.querySelector('[part=oval]').classList.contains('${name}')`)

  describe('with a guide-url', () => {
    it('sends small frames one after the other with the step, and shows the most urgent advice', async () => {
      let inFlight = 0
      pages.guide = async (question) => {
        asked.push(question)
        expect(++inFlight).toBe(1)
        await new Promise((resolve) => setTimeout(resolve, 50))
        inFlight--
        return [200, '{"guidance":["too_dark","not_frontal"]}']
      }
      await visit(`mode=photo&${GUIDED}`)
      await visited.startCamera()
      await expect.poll(async () => (await visited.heard('cs-guidance')).length).toBeGreaterThan(2)
      expect((await visited.hear('cs-guidance')).detail).toEqual({
        step: 'frontal',
        guidance: ['too_dark', 'not_frontal'],
      })
      expect(await hint()).toBe('It is too dark. Turn to the light.')
      expect(await ovalIs('amiss')).toBe(true)
      for (const { step, type, frame } of asked) {
        expect([step, type]).toEqual(['frontal', 'image/jpeg'])
        const { width, height } = await sharp(frame).metadata()
        expect(Math.max(width, height)).toBeLessThanOrEqual(320)
      }
      expect(visited.complaints).toEqual([])
    })

    it('never disables the button', async () => {
      answerWith(() => ['too_far'])
      await visit(`mode=photo&${GUIDED}`)
      await visited.startCamera()
      await expect.poll(hint).toBe('Come closer.')
      await visited.click('Take photo')
      await visited.hear('cs-capture')
      expect(await visited.trackState()).toBe('ended')
    })

    it('praises a good picture, and asks no more once the camera is off', async () => {
      await visit(`mode=photo&${GUIDED}`)
      await visited.startCamera()
      await expect.poll(hint).toBe('Good. Take the photo.')
      expect(await ovalIs('good')).toBe(true)
      await visited.page.keyboard.press('Escape')
      await visited.hear('cs-cancel')
      const before = asked.length
      await visited.page.waitForTimeout(1000)
      expect(asked.length).toBe(before)
    })

    it.each([
      ['an error', async () => [503, '{"code":"overloaded"}'] as [number, string]],
      ['nonsense', async () => [200, '<html>'] as [number, string]],
      ['another shape', async () => [200, '{"guidance":"too_dark"}'] as [number, string]],
    ])('goes on without advice when the backend answers with %s', async (_, guide) => {
      pages.guide = guide
      await visit(`mode=photo&${GUIDED}`)
      await visited.startCamera()
      expect((await visited.hear('cs-guidance')).detail).toEqual({ step: 'frontal', guidance: null })
      // The order stays without advice.
      expect(await hint()).toBe('Look straight ahead, with your face in the oval.')
      expect([await ovalIs('amiss'), await ovalIs('good')]).toEqual([false, false])
      expect(await visited.heard('cs-error')).toEqual([])
      await visited.click('Take photo')
      await visited.hear('cs-capture')
    })

    it('gives up an unanswered question and asks again', async () => {
      pages.guide = (question) => {
        asked.push(question)
        return asked.length === 1 ? new Promise(() => {}) : Promise.resolve([200, '{"guidance":[]}'])
      }
      await visit(`mode=photo&${GUIDED}`)
      await visited.startCamera()
      await expect
        .poll(async () => (await visited.heard('cs-guidance')).map(({ detail }) => detail.guidance), {
          timeout: 30_000,
        })
        .toEqual([null, []])
    })

    it('guides each step of a challenge, and stops asking once a movement went far enough', async () => {
      let turns = 0
      answerWith((step) => (step === 'turn_left' && turns++ === 0 ? ['turn_more'] : []))
      await visit(`mode=challenge&step-time=6000&${GUIDED}`)
      await visited.startCamera()
      await expect.poll(hint).toBe('Good. Hold still.')
      await visited.setChallenge(CHALLENGE)
      await expect.poll(hint).toBe('Good. You can begin.')
      await visited.click('Begin')
      await expect.poll(hint, { timeout: 30_000 }).toBe('Turn your head a little further.')
      expect(await arrow()).toMatchObject({ edge: 'left', to: 'left' })
      await expect.poll(hint).toBe('Good. Now come back.')
      expect(await arrow()).toMatchObject({ edge: 'left', to: 'right' })
      await visited.hear('cs-capture')
      expect(turns).toBe(2)
      const steps = (await visited.heard('cs-guidance')).map(({ detail }) => detail.step)
      expect([...new Set(steps)]).toEqual(['frontal', 'turn_left'])
      expect(steps.at(-1)).toBe('frontal')
    })

    it('gives one order at a time: an arrow appears only with its own order', async () => {
      answerWith((step) => (step === 'turn_left' ? ['too_far'] : []))
      await visit(`mode=challenge&step-time=6000&${GUIDED}`)
      await visited.beginChallenge(CHALLENGE)
      await expect.poll(hint, { timeout: 30_000 }).toBe('Turn your head to your left and back.')
      const { width, ...pointed } = (await arrow())!
      expect(pointed).toEqual({ edge: 'left', to: 'left' })
      // The arrow is wide enough for a person who looks aside.
      expect(width).toBeGreaterThanOrEqual(80)
      await expect.poll(hint).toBe('Come closer.')
      expect(await arrow()).toBeNull()
      // Below the picture there is only text for screen readers.
      expect(
        await visited.page.evaluate(
          "it.shadowRoot.querySelector('[part=prompt]').getBoundingClientRect().width",
        ),
      ).toBeLessThanOrEqual(1)
    })

    it('reads hints out one at a time, independently of the visible ones', async () => {
      answerWith(() => ['too_far'])
      await visit(`mode=photo&${GUIDED}`)
      await visited.startCamera()
      await expect.poll(hint).toBe('Come closer.')
      const live = "it.shadowRoot.querySelector('.heard')"
      expect(await visited.page.evaluate(`${live}.textContent`)).toBe('Come closer.')
      expect(await visited.page.evaluate(`${live}.getAttribute('aria-live')`)).toBe('polite')
      answerWith(() => ['too_close'])
      await expect.poll(hint).toBe('Move back a little.')
      expect(await visited.page.evaluate(`${live}.textContent`)).toBe('Come closer.')
      await expect
        .poll(() => visited.page.evaluate(`${live}.textContent`), { timeout: 10_000 })
        .toBe('Move back a little.')
    })
  })

  it('asks the page’s own detector instead of a backend', async () => {
    await visit('mode=photo')
    await visited.page.evaluate(`{
      globalThis.seen = []
      it.detector = (frame, step) => { seen.push([frame.type, step]); return ['several_faces'] }
    }`)
    await visited.startCamera()
    await expect.poll(hint).toBe('Only you should be in the picture.')
    expect(await visited.page.evaluate('seen[0]')).toEqual(['image/jpeg', 'frontal'])
    expect(asked).toEqual([])
    expect(visited.complaints).toEqual([])
  })

  describe('with a required consent', () => {
    const box = () => visited.page.getByRole('checkbox', { name: 'I agree.' })

    it('does not ask for the camera before the person has agreed, with only the keyboard', async () => {
      await visit('mode=photo&consent=2026-11')
      expect(await visited.page.getByRole('button', { name: 'Turn on camera' }).isDisabled()).toBe(true)
      await visited.page.evaluate('it.start()')
      expect(await visited.heard('cs-ready')).toEqual([])
      await box().focus()
      await visited.page.keyboard.press('Space')
      expect(await visited.heard('cs-consent')).toEqual([])
      await visited.page.keyboard.press('Tab')
      await visited.page.keyboard.press('Enter')
      await visited.hear('cs-ready')
      const names = ((await visited.page.evaluate('heard')) as Array<{ name: string }>).map(
        ({ name }) => name,
      )
      expect(names).toEqual(['cs-consent', 'cs-ready'])
      const { id, agreed_at } = (await visited.hear('cs-consent')).detail
      expect(id).toBe('2026-11')
      expect(new Date(agreed_at).toISOString()).toBe(agreed_at)
    })

    it('reports the consent once, and asks again for another text', async () => {
      await visit('mode=photo&consent=2026-11')
      await box().check()
      await visited.startCamera()
      await visited.page.keyboard.press('Escape')
      await visited.click('Turn on camera')
      await expect.poll(async () => (await visited.heard('cs-ready')).length).toBe(2)
      expect(await visited.heard('cs-consent')).toHaveLength(1)
      await visited.page.keyboard.press('Escape')
      await visited.page.evaluate("it.setAttribute('consent', '2026-12')")
      expect(await box().isChecked()).toBe(false)
      expect(await visited.page.getByRole('button', { name: 'Turn on camera' }).isDisabled()).toBe(true)
      await box().check()
      await visited.click('Turn on camera')
      await expect
        .poll(async () => (await visited.heard('cs-consent')).map(({ detail }) => detail.id))
        .toEqual(['2026-11', '2026-12'])
    })
  })

  describe('with a file instead of the camera', () => {
    const choose = async (name: string, mimeType: string, buffer: Buffer) => {
      const chooser = visited.page.waitForEvent('filechooser')
      await visited.click('Choose a photo instead')
      await (await chooser).setFiles({ name, mimeType, buffer })
    }

    it('hands the file over as a photo, upright and no larger than asked for', async () => {
      await visit('mode=photo&file-fallback&max-side=300')
      // Only the EXIF data rotates this photo.
      const photo = await sharp(await face('grace'))
        .resize(400, 300)
        .withMetadata({ orientation: 6 })
        .jpeg()
        .toBuffer()
      await choose('photo.jpg', 'image/jpeg', photo)
      const { detail } = await visited.hear('cs-capture')
      expect([detail.mode, detail.source]).toEqual(['photo', 'file'])
      const [image] = await visited.images('images')
      const { format, width, height, orientation } = await sharp(
        Buffer.from(image!.split(',')[1]!, 'base64'),
      ).metadata()
      expect([format, width, height, orientation]).toEqual(['jpeg', 225, 300, undefined])
      expect(await visited.focused()).toContain('Your photo was read')
    })

    it('reports a file that is no picture, and accepts another one', async () => {
      await visit('mode=photo&file-fallback')
      await choose('notes.txt', 'image/jpeg', Buffer.from('notes'))
      expect((await visited.hear('cs-error')).detail).toEqual({ code: 'wrong_format', recoverable: true })
      await choose('photo.jpg', 'image/jpeg', (await face('grace')).subarray(0, 200))
      await expect
        .poll(async () => (await visited.heard('cs-error')).map(({ detail }) => detail.code))
        .toEqual(['wrong_format', 'file_unreadable'])
      expect(await visited.shown('error')).toBe(
        'This file cannot be read as a photo. Please choose another one.',
      )
      await choose(
        'photo.png',
        'image/png',
        await sharp(await face('grace'))
          .png()
          .toBuffer(),
      )
      await visited.hear('cs-capture')
    })

    it.each([
      ['en', 'choose a JPEG photo', 'Most Compatible'],
      ['de', 'wählen Sie ein JPEG-Foto', 'Maximale Kompatibilität'],
      ['fr', 'choisir une photo JPEG', 'Le plus compatible'],
      ['es', 'Elija una foto JPEG', 'Más compatible'],
      ['ja', 'JPEG形式の写真', '互換性優先'],
    ])('explains in %s how to get a JPEG instead of a HEIC photo', async (language, ...said) => {
      await visit('mode=photo&file-fallback')
      await visited.page.evaluate(`{ it.lang = '${language}' }`)
      const chooser = visited.page.waitForEvent('filechooser')
      // The names of the buttons depend on the language, so that the visible buttons are counted.
      await visited.page.locator('button:visible').nth(1).click()
      await (await chooser).setFiles({ name: 'IMG_1.HEIC', mimeType: 'image/heic', buffer: heicHeader() })
      expect((await visited.hear('cs-error')).detail).toEqual({ code: 'wrong_format', recoverable: true })
      for (const words of said) expect(await visited.shown('error')).toContain(words)
    })

    it('offers the file when the camera is refused, after the consent, and only in photo mode', async () => {
      await visit('mode=photo&file-fallback&consent=2026-11', { isAllowed: false })
      const button = () => visited.page.getByRole('button', { name: 'Choose a photo instead' })
      expect(await button().isDisabled()).toBe(true)
      await visited.page.getByRole('checkbox').check()
      await visited.click('Turn on camera')
      await visited.hear('cs-error')
      expect(await button().isEnabled()).toBe(true)
      await visited.close()
      await visit('mode=challenge&file-fallback')
      expect(await button().count()).toBe(0)
    })
  })

  it('reports rotated when the device is turned during a challenge, and not before it', async () => {
    await visit('mode=challenge')
    await visited.startCamera()
    await visited.setChallenge({ ...CHALLENGE, steps: ['frontal'] })
    const turn = `Object.defineProperties(it.shadowRoot.querySelector('video'), {
      videoWidth: { value: ${FILM.height}, configurable: true }, videoHeight: { value: ${FILM.width}, configurable: true } })`
    await visited.page.evaluate("it.setAttribute('step-time', '20000')")
    await visited.click('Begin')
    await visited.hear('cs-step')
    await visited.page.evaluate(`{ ${turn} }`)
    expect((await visited.hear('cs-error')).detail).toEqual({ code: 'rotated', recoverable: true })
    expect(await visited.trackState()).toBe('ended')
    await visited.click('Try again')
    await expect.poll(async () => (await visited.heard('cs-ready')).length).toBe(2)
    expect(await visited.heard('cs-error')).toHaveLength(1)
  })

  describe('with speech', () => {
    const VOICE = `
      globalThis.spoken = []
      Object.defineProperty(globalThis, 'speechSynthesis', { value: {
        speaking: false, cancel() {}, speak({ text, lang }) { spoken.push([lang, text]) } } })`
    const spoken = () => visited.page.evaluate('spoken')

    it('speaks steps and hints in the language of the texts, each once', async () => {
      answerWith(() => ['too_far'])
      await visit(`mode=challenge&speech&lang=de-AT&step-time=3000&${GUIDED}`, { before: VOICE })
      await visited.click('Kamera einschalten')
      await visited.hear('cs-ready')
      await visited.setChallenge(CHALLENGE)
      await expect.poll(async () => (await visited.heard('cs-guidance')).length).toBeGreaterThan(1)
      expect(await spoken()).toEqual([
        ['de-AT', expect.stringContaining('Schauen Sie geradeaus')],
        ['de-AT', 'Kommen Sie etwas näher.'],
      ])
      await visited.click('Beginnen')
      await expect.poll(spoken).toContainEqual(['de-AT', 'Drehen Sie den Kopf nach links und wieder zurück.'])
    })

    it.each([
      ['it is not asked for', `mode=photo&${GUIDED}`, {}],
      [
        'the person’s system asks for quiet',
        `mode=photo&speech&${GUIDED}`,
        { reducedMotion: 'reduce' as const },
      ],
    ])('speaks nothing when %s', async (_, query, options) => {
      await visit(query, { before: VOICE, ...options })
      await visited.startCamera()
      await visited.hear('cs-guidance')
      expect(await spoken()).toEqual([])
    })
  })

  for (const colorScheme of ['light', 'dark'] as const)
    it(`is accessible with every hint and fits into 320 px (${colorScheme})`, async () => {
      let code: string | null = null
      answerWith(() => (code ? [code] : []))
      await visit(`mode=photo&consent=2026-11&file-fallback&${GUIDED}`, {
        colorScheme,
        viewport: { width: 320, height: 640 },
      })
      const look = (state: string) => visited.expectAccessible(`${state}-${colorScheme}`)
      await look('consent')
      await visited.page.getByRole('checkbox').check()
      await visited.startCamera()
      for (code of [null, ...FRAME_GUIDANCE]) {
        const text = (await visited.page.evaluate(`it.texts['${code ?? 'good_photo'}']`)) as string
        await expect.poll(hint).toBe(text)
        await look(`hint-${code ?? 'none'}`)
      }
    })
})
