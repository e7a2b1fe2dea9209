/**
 * From a camera to a verdict, nothing left out: a film before Chromium's camera, the component, the example's backend, the
 * service, its engine with the baseline pack. What is carried out, what the person reads, and what the audit log says.
 */
import { mkdtemp, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page, Response } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Step } from '../../src/biometrics/challenge/steps.js'
import type { FacePipeline } from '../../src/biometrics/pipeline/face-pipeline.js'
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

/** How far from its film's the time may be at which a capture begins: what is asked for is shown all the same. */
const LEEWAY_MS = 350

/** What time it is in the film, and when the capture began. */
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
  /** Of which the film is made. */
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

describe.skipIf(!CHROMIUM)('a film before the camera', { timeout: 600_000 }, () => {
  let running: TestService
  let tenant: TestTenant
  let production: ApiClient & { key: string }
  let pipeline: FacePipeline
  let folder: string
  let camera: string
  let browser: Browser
  let backend: CaptureExample

  beforeAll(async () => {
    // A busy machine judges forty frames in its own time.
    running = await startService({ COUNTERSIGN_DEADLINE_MS: '120000' })
    // The example looks at the system's clock.
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

  /** What the camera sees from the next time on that it is turned on. */
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
    /** What the page says. */
    said: string
    /** What the page was told by its backend. */
    status: number
    body: object
    complaints: string[]
  }

  /** Somebody whose face is enrolled wants to confirm a transfer; the camera sees this act. */
  async function confirm(user: string, name: ActName, steps: readonly Step[]): Promise<Outcome> {
    const enrolled = base64(await face(ACTORS[name].enrolled))
    expect((await production.enroll({ user_id: user, image: enrolled })).status).toBe(201)
    await show(name, steps)
    const context = await browser.newContext({ permissions: ['camera'] })
    // The test's own time limits it.
    context.setDefaultTimeout(0)
    const page = await context.newPage()
    const complaints: string[] = []
    page.on('pageerror', (error) => complaints.push(error.message))
    await page.addInitScript(FILM_CLOCK)
    // Nobody can foresee what is asked for: who has one film asks until it is what the film shows.
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

  /** What the page says in the end, and what it was told. */
  function answered(page: Page, start: string): Promise<[string, Response]> {
    const isAnswer = (response: Response) =>
      response.url().endsWith('/transfers') && response.status() !== 503
    return Promise.all([captured(page, start), page.waitForResponse(isAnswer)])
  }

  /** As often as a busy machine needs it: too few frames are no answer to a challenge, nor is none in time a verdict. */
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

  /** Begins the capture when the film is where its steps begin; from the start of the film if that moment was missed. */
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

  /** What the log says of a user's last verify. */
  async function logged(): Promise<Record<string, unknown>> {
    const { body } = await production.call('GET', '/v1/audit?event=verify')
    return body.data.at(-1).facts
  }

  it.each([
    ['left and down', 'ada-1', LEFT_AND_DOWN],
    ['up and right', 'ada-2', UP_AND_RIGHT],
  ])('of a head that does what is asked (%s) ends with a transfer', async (_, user, steps) => {
    const { said, status, body, complaints } = await confirm(user, 'head', steps)
    // What a refusal was for stands in the failure.
    expect([said, status], JSON.stringify(await logged())).toEqual(['1250.00 went to Grace.', 200])
    expect(body).toEqual({
      done: { type: 'transfer', amount: '1250.00', to: 'Grace' },
      countersigned: expect.stringMatching(/^ver_/),
    })
    expect(await logged()).toMatchObject({ verdict: 'approved', liveness_methods: ['active-geometry@1'] })
    expect(complaints).toEqual([])
  })

  it.each([
    ['still_photo', 'turn_more', undefined, 'Turn a little further.'],
    ['flat_print', 'turn_more', undefined, 'Turn a little further.'],
    ['photos_swapped', 'slower', ['discontinuous'], 'A little slower, please.'],
    ['people_swapped', 'try_again', ['face_changed'], 'Please try again.'],
  ] as const)('of %s carries nothing out', async (name, guidance, findings, advice) => {
    const { said, status, body } = await confirm(name, name, LEFT_AND_DOWN)
    expect([said, status]).toEqual([`Not confirmed. ${advice}`, 403])
    // The person is told what a person can do; what it looked like is in the log alone.
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
