/**
 * The whole way from the camera to a verdict: a film in front of Chromium's camera, the component, the example's backend, the service, and
 * its engine with the baseline pack. The tests check the transfer, the text for the person, and the audit log.
 */
import { mkdtemp, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page, Response } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { FacePipeline } from '../../src/biometrics/pipeline/face-pipeline.js'
import type { Step } from '../../src/features/challenges/film/steps.js'
import { Random } from '../hostile/random.js'
import { type ActName, PACE, writeAct } from '../liveness/camera-films.js'
import type { Cast } from '../liveness/films.js'
import { loadPipeline } from '../liveness/pipeline.js'
import { portraitOf } from '../liveness/portrait.js'
import { CHROMIUM } from '../support/browser.js'
import { launchWithCamera } from '../support/camera-page.js'
import { type CaptureExample, startCaptureExample } from '../support/capture-example.js'
import type { ApiClient } from '../support/client.js'
import { base64, type FaceName, face } from '../support/faces.js'
import { startService, type TestService, type TestTenant } from '../support/service.js'

/** Tolerance between the time of the film and the start of a capture, in milliseconds. The film still shows the steps of the challenge. */
const LEEWAY_MS = 350

/** Script that reads the time of the film and the start of the capture. */
const FILM_CLOCK = `
  const filmMs = () => 1000 * document.querySelector('countersign-capture').shadowRoot.querySelector('video').currentTime
  globalThis.filmIsAt = (ms) => new Promise((resolve) => {
    const look = () => filmMs() >= ms ? resolve() : requestAnimationFrame(look)
    look()
  })
  addEventListener('cs-step', ({ detail }) => { if (detail.step === 0) globalThis.begunAt = filmMs() })
`

const LEFT_AND_DOWN: readonly Step[] = ['frontal', 'turn_left', 'nod_down', 'frontal']
const UP_AND_RIGHT: readonly Step[] = ['frontal', 'nod_up', 'turn_right', 'frontal']

interface Actor {
  /** The photo from which the film is made. */
  photo: FaceName
  enrolled: FaceName
  tries: number
}

const ACTORS: Record<ActName, Actor> = {
  // Three tries are what the guide advises. The photo is the one that looks ahead: a head that is made of a turned face is
  // narrower than heads are when it turns on.
  head: { photo: 'adaElsewhere', enrolled: 'ada', tries: 3 },
  still_photo: { photo: 'adaElsewhere', enrolled: 'ada', tries: 1 },
  flat_print: { photo: 'adaElsewhere', enrolled: 'ada', tries: 1 },
  photos_swapped: { photo: 'adaElsewhere', enrolled: 'ada', tries: 1 },
  people_swapped: { photo: 'grace', enrolled: 'grace', tries: 1 },
}

describe.skipIf(!CHROMIUM)('a film in front of the camera', { timeout: 600_000 }, () => {
  let running: TestService
  let tenant: TestTenant
  let production: ApiClient & { key: string }
  let pipeline: FacePipeline
  let folder: string
  let camera: string
  let browser: Browser
  let backend: CaptureExample

  beforeAll(async () => {
    // A busy machine needs a long time to judge forty frames.
    running = await startService({ COUNTERSIGN_DEADLINE_MS: '120000' })
    // The example uses the system's clock.
    running.clock.now = Date.now
    tenant = await running.tenant()
    production = await running.production(tenant)
    pipeline = await loadPipeline()
    folder = await mkdtemp(join(tmpdir(), 'countersign-verdict-'))
    camera = join(folder, 'camera.y4m')
    await show('head', LEFT_AND_DOWN)
    browser = await launchWithCamera(camera)
    const baseUrl = running.service.url('production')
    backend = await startCaptureExample(tenant, { baseUrl, apiKey: production.key })
  }, 300_000)
  afterAll(async () => {
    await backend?.stop()
    await browser?.close()
    await running?.stop()
    await pipeline?.release()
    if (folder) await rm(folder, { recursive: true, force: true })
  })

  /** Sets the film that the camera shows the next time it is turned on. */
  async function show(name: ActName, steps: readonly Step[]): Promise<void> {
    const { photo } = ACTORS[name]
    const cast: Cast = {
      portrait: await portraitOf(pipeline, photo, await face(photo)),
      samePerson: [],
      stranger: await portraitOf(pipeline, 'adaElsewhere', await face('adaElsewhere')),
    }
    const file = join(folder, 'next.y4m')
    await writeAct(file, name, cast, steps, new Random(4))
    await rename(file, camera)
  }

  interface Outcome {
    /** The text of the page. */
    said: string
    /** The backend's answer to the page. */
    status: number
    body: object
    complaints: string[]
  }

  /** Confirms a transfer as an enrolled user, while the camera shows this act. */
  async function confirm(user: string, name: ActName, steps: readonly Step[]): Promise<Outcome> {
    const enrolled = base64(await face(ACTORS[name].enrolled))
    expect((await production.enroll({ user_id: user, image: enrolled })).status).toBe(201)
    await show(name, steps)
    const context = await browser.newContext({ permissions: ['camera'] })
    // Only the time limit of the test applies.
    context.setDefaultTimeout(0)
    const page = await context.newPage()
    const complaints: string[] = []
    page.on('pageerror', (error) => complaints.push(error.message))
    await page.addInitScript(FILM_CLOCK)
    // The steps of a challenge are random: challenges are requested until one asks for the steps that the film shows.
    await page.route('**/challenges', async (route) => {
      let response = await route.fetch()
      while ((await response.json()).steps.join() !== steps.join()) response = await route.fetch()
      await route.fulfill({ response })
    })
    await page.goto(`${backend.address}/?user=${user}`)
    await page
      .locator('countersign-capture')
      .evaluate((element, stepMs) => element.setAttribute('step-time', String(stepMs)), PACE.stepMs)
    let [said, response] = await answered(page, 'Turn on camera')
    for (let left = ACTORS[name].tries - 1; left > 0 && response.status() === 403; left--)
      [said, response] = await answered(page, 'Try again')
    const outcome = { said, status: response.status(), body: await response.json(), complaints }
    await context.close()
    return outcome
  }

  /** The final text of the page, and the backend's answer. */
  function answered(page: Page, start: string): Promise<[string, Response]> {
    const isAnswer = (response: Response) =>
      response.url().endsWith('/transfers') && response.status() !== 503
    return Promise.all([captured(page, start), page.waitForResponse(isAnswer)])
  }

  /** Repeats the capture as often as a busy machine needs, until enough frames arrived in time for a verdict. */
  async function captured(page: Page, start: string): Promise<string> {
    const done = page.locator('countersign-capture [part=done]')
    const refused = page.locator('countersign-capture [part=error]')
    await page.getByRole('button', { name: start }).click()
    for (;;) {
      await begin(page)
      await done.or(refused).filter({ visible: true, hasNotText: 'Captured.' }).first().waitFor()
      const said = (await ((await done.isVisible()) ? done : refused).textContent())!
      if (!/too slow|later/.test(said)) return said
      await page.getByRole('button', { name: 'Try again' }).click()
    }
  }

  /** Begins the capture at the moment at which the steps of the film begin, and restarts the film if the moment was missed. */
  async function begin(page: Page): Promise<void> {
    for (;;) {
      await page.getByRole('button', { name: 'Begin', disabled: false }).waitFor()
      await page.evaluate(`filmIsAt(${PACE.leadMs})`)
      await page.getByRole('button', { name: 'Begin' }).click()
      if (Number(await page.evaluate('begunAt')) - PACE.leadMs <= LEEWAY_MS) return
      await page.keyboard.press('Escape')
      await page.getByRole('button', { name: 'Turn on camera' }).click()
    }
  }

  /** The entry of the log for the user's last verify. */
  async function logged(): Promise<Record<string, unknown>> {
    const { body } = await production.call('GET', '/v1/audit?event=verify')
    return body.data.at(-1).facts
  }

  it.each([
    ['left and down', 'ada-1', LEFT_AND_DOWN],
    ['up and right', 'ada-2', UP_AND_RIGHT],
  ])('executes a transfer when the head follows the challenge (%s)', async (_, user, steps) => {
    const { said, status, body, complaints } = await confirm(user, 'head', steps)
    // A failed assertion shows the reason of the refusal.
    expect([said, status], JSON.stringify(await logged())).toEqual(['1250.00 went to Grace.', 200])
    expect(body).toEqual({
      done: { type: 'transfer', amount: '1250.00', to: 'Grace' },
      countersigned: expect.stringMatching(/^ver_/),
    })
    expect(await logged()).toMatchObject({ verdict: 'approved', liveness_methods: ['active-geometry@1'] })
    expect(complaints).toEqual([])
  })

  it.each([
    ['still_photo', 'turn_more', undefined, 'Turn your head a little further.'],
    ['flat_print', 'turn_more', undefined, 'Turn your head a little further.'],
    ['photos_swapped', 'slower', ['discontinuous'], 'Move a little more slowly.'],
    ['people_swapped', 'try_again', ['face_changed'], 'Please try again.'],
  ] as const)('executes nothing when it shows %s', async (name, guidance, findings, advice) => {
    const { said, status, body } = await confirm(name, name, LEFT_AND_DOWN)
    expect([said, status]).toEqual([`Not confirmed. ${advice}`, 403])
    // The person gets advice. Only the log has the findings.
    expect(body).toEqual({ message: 'Not confirmed.', guidance, again: true })
    const facts = await logged()
    expect(facts).toMatchObject({
      verdict: 'rejected',
      reason: 'liveness_failed',
      liveness_guidance: guidance,
    })
    expect(facts.liveness_findings).toEqual(findings)
  })
})
