/**
 * A sign-in with a rendered film before Chromium's camera, from the application over the hosted page to the ID token. The engine judges the
 * frames with the baseline pack, in production.
 */
import { mkdtemp, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { FacePipeline } from '../../../src/biometrics/pipeline/face-pipeline.js'
import type { Step } from '../../../src/features/challenges/film/steps.js'
import type { OpenIdClient } from '../../../src/features/openid/openid-clients.js'
import { Random } from '../../hostile/random.js'
import { type ActName, PACE, writeAct } from '../../liveness/camera-films.js'
import type { Cast } from '../../liveness/films.js'
import { loadPipeline } from '../../liveness/pipeline.js'
import { portraitOf } from '../../liveness/portrait.js'
import { CHROMIUM } from '../../support/browser.js'
import { launchWithCamera } from '../../support/camera-page.js'
import type { ApiClient } from '../../support/client.js'
import { base64, type FaceName, face } from '../../support/faces.js'
import { OpenIdApplication } from '../../support/openid-application.js'
import { checkedVerdict, RELYING_PARTIES } from '../../support/relying-parties.js'
import { type RelyingSite, startRelyingSite } from '../../support/relying-site.js'
import { startService, type TestService, type TestTenant } from '../../support/service.js'

/** Tolerance between the time of the film and the start of a capture, in milliseconds. The film still shows the steps of the challenge. */
const LEEWAY_MS = 350
const TRIES = 3

/** Script that reads the time of the film and the start of the capture, and shows each step as long as the film does. */
const FILM_CLOCK = `
  const component = () => document.querySelector('countersign-capture')
  const filmMs = () => 1000 * component().shadowRoot.querySelector('video').currentTime
  globalThis.filmIsAt = (ms) => new Promise((resolve) => {
    const look = () => filmMs() >= ms ? resolve() : requestAnimationFrame(look)
    look()
  })
  addEventListener('cs-step', ({ detail }) => { if (detail.step === 0) globalThis.begunAt = filmMs() })
  addEventListener('DOMContentLoaded', () => component()?.setAttribute('step-time', '${PACE.stepMs}'))
`

describe.skipIf(!CHROMIUM)('a sign-in before a film', { timeout: 600_000 }, () => {
  let running: TestService
  let tenant: TestTenant
  let production: ApiClient & { key: string }
  let application: OpenIdClient
  let site: RelyingSite
  let pipeline: FacePipeline
  let folder: string
  let camera: string
  let browser: Browser

  beforeAll(async () => {
    // A busy machine needs a long time to judge forty frames.
    running = await startService({
      COUNTERSIGN_CAPTURE_LISTEN: '127.0.0.1:0',
      COUNTERSIGN_OPENID_LISTEN: '127.0.0.1:0',
      COUNTERSIGN_CHALLENGE_TTL_SECONDS: '300',
      COUNTERSIGN_DEADLINE_MS: '120000',
    })
    // The browser and the libraries use the clock of the system.
    running.clock.now = Date.now
    tenant = await running.tenant()
    production = await running.production(tenant)
    site = await startRelyingSite()
    application = await OpenIdApplication.add(running, tenant, {
      ...{ environment: 'production', name: 'portal', redirectUris: [site.redirectUri] },
    })
    pipeline = await loadPipeline()
    folder = await mkdtemp(join(tmpdir(), 'countersign-openid-films-'))
    camera = join(folder, 'camera.y4m')
    await show('head', ['frontal'])
    browser = await launchWithCamera(camera)
  }, 300_000)
  afterAll(async () => {
    await browser?.close()
    await site?.stop()
    await running?.stop()
    await pipeline?.release()
    if (folder) await rm(folder, { recursive: true, force: true })
  })

  /** Sets the film that the camera shows the next time it is turned on. */
  async function show(name: ActName, steps: readonly Step[]): Promise<void> {
    const portrait = await portraitOf(pipeline, 'adaElsewhere', await face('adaElsewhere'))
    const cast: Cast = { portrait, samePerson: [], stranger: portrait }
    const file = join(folder, 'next.y4m')
    await writeAct(file, name, cast, steps, new Random(4))
    await rename(file, camera)
  }

  async function enroll(user: string, name: FaceName): Promise<void> {
    expect((await production.enroll({ user_id: user, image: base64(await face(name)) })).status).toBe(201)
  }

  async function useLibrary(name: keyof typeof RELYING_PARTIES): Promise<void> {
    site.party = await RELYING_PARTIES[name]({
      issuer: running.service.origin('openid')!,
      redirectUri: site.redirectUri,
      clientId: application.record.id,
      proof: { secret: application.secret! },
    })
  }

  /** Begins a sign-in at the application, before a camera that shows this act. */
  async function begin(user: string, name: ActName): Promise<Page> {
    const context = await browser.newContext({ permissions: ['camera'] })
    // Only the time limit of the test applies.
    context.setDefaultTimeout(0)
    const page = await context.newPage()
    await page.addInitScript(FILM_CLOCK)
    // The steps of a challenge are random: the film for them is made when they are known, and the page keeps its challenge until then.
    let asked: Promise<{ status: number; json: unknown }> | null = null
    await page.route('**/challenge', async (route) => {
      asked ??= (async () => {
        const response = await route.fetch()
        const json = await response.json()
        if (json.challenge) await show(name, json.challenge.steps)
        return { status: response.status(), json }
      })()
      await route.fulfill(await asked)
    })
    await page.route('**/frames', (route) => {
      asked = null
      return route.continue()
    })
    await page.goto(site.begin(user))
    await page.getByRole('button', { name: 'Agree and continue' }).click()
    return page
  }

  /** Makes a capture whose steps begin with those of the film. @returns when the page shows an outcome, or the application */
  async function capture(page: Page): Promise<void> {
    const start = page.getByRole('button', { name: 'Begin', disabled: false })
    for (;;) {
      await start.waitFor()
      // The camera is turned on again, so that it shows the film that was made meanwhile from its beginning.
      await page
        .locator('countersign-capture')
        .evaluate((element) => (element as unknown as { cancel(): void }).cancel())
      await page.getByRole('button', { name: 'Turn on camera' }).click()
      await start.waitFor()
      await page.evaluate(`filmIsAt(${PACE.leadMs})`)
      await start.click()
      if (Number(await page.evaluate('begunAt')) - PACE.leadMs <= LEEWAY_MS) break
    }
    const again = page.locator('#again').filter({ visible: true })
    const over = page.locator('#outcome').filter({ visible: true })
    await again
      .or(over)
      .or(page.getByRole('heading', { name: /^(Welcome|Refused)/ }))
      .first()
      .waitFor()
  }

  async function captureUntilOver(page: Page): Promise<void> {
    for (let tries = 0; tries < TRIES; tries++) {
      await capture(page)
      const again = page.locator('#again').filter({ visible: true })
      if ((await again.count()) === 0) break
      await again.click()
    }
  }

  async function logged(): Promise<Record<string, unknown>> {
    const { body } = await production.call('GET', '/v1/audit?event=verify')
    return body.data.at(-1).facts
  }

  it.each(['openid-client', 'oauth4webapi'] as const)(
    'ends in tokens that %s has checked, when the head of the enrolled person follows the challenge',
    async (library) => {
      await useLibrary(library)
      const user = `film-${library}`
      await enroll(user, 'ada')
      const page = await begin(user, 'head')
      await captureUntilOver(page)
      // A failed assertion shows the reason of the refusal.
      expect(await page.getByRole('heading').textContent(), JSON.stringify(await logged())).toBe(
        `Welcome ${user}`,
      )
      const redeemed = site.redeemed.at(-1)!
      expect(redeemed.claims).toMatchObject({ sub: user, acr: 'urn:countersign:acr:face-active' })
      const issuer = running.service.url('production')
      expect(await checkedVerdict(redeemed, issuer, tenant.id, Date.now())).toMatchObject({
        ...{ sub: user, verdict: 'approved', env: 'production' },
        action: { type: 'login', application: 'portal' },
      })
      await page.context().close()
    },
  )

  it.each([
    ['the head of somebody else follows the challenge', 'grace', 'head', {}],
    ['a photo is held before the camera', 'ada', 'still_photo', { reason: 'liveness_failed' }],
  ] as const)('ends in access_denied when %s', async (_what, enrolled, act, why) => {
    const user = `film-refused-${enrolled}`
    await enroll(user, enrolled)
    const page = await begin(user, act)
    await captureUntilOver(page)
    await page.getByRole('link', { name: `Back to ${tenant.name}` }).click()
    await page.waitForURL(`${site.redirectUri}*`)
    expect(await page.getByRole('heading').textContent()).toBe('Refused: access_denied')
    expect(await logged()).toMatchObject({ verdict: 'rejected', ...why })
    await page.context().close()
  })
})
