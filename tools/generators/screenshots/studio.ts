/** A service with sample data, a browser with a drawn person before its camera, and the pages of both to take pictures of. */
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import type { ActionPolicy } from '../../../src/contract/action-policy.js'
import { freePorts } from '../../../src/http/free-port.js'
import { ManualClock } from '../../../src/lib/clock.js'
import { packageFile } from '../../../src/lib/package-root.js'
import { begun, loaded } from '../../../test/support/browser.js'
import { launchWithCamera, REACHABLE_HOST } from '../../../test/support/camera-page.js'
import { allowReturn, askForSession } from '../../../test/support/capture-page.js'
import { type ApiClient, apiClient } from '../../../test/support/client.js'
import { loginToken } from '../../../test/support/dashboard.js'
import { writeFilm } from '../../../test/support/film.js'
import { OPERATOR_PASSWORD } from '../../../test/support/operator.js'
import { setPolicy } from '../../../test/support/policies.js'
import { startService, type TestService, type TestTenant } from '../../../test/support/service.js'
import { CAMERA, drawnPerson } from './drawn-person.js'
import { SAMPLE_ACTION, sendSampleTraffic } from './sample-traffic.js'

export type Scheme = 'light' | 'dark'

/** When the first user enrolls. */
const BEGIN = Date.parse('2026-03-02T09:21:00Z')
/** Pixels of the picture for each of the page. */
export const SCALE = 2

/** The first policy of the guide. */
function guidePolicy(): ActionPolicy {
  const page = readFileSync(packageFile('docs', 'guides', 'policy.md'), 'utf8')
  return JSON.parse(/^```json\n([\s\S]*?)^```/m.exec(page)![1]!) as ActionPolicy
}

export class Studio {
  private constructor(
    private readonly running: TestService,
    private readonly tenant: Omit<TestTenant, 'record' | 'audit' | 'subscribe' | 'told'>,
    private readonly production: ApiClient,
    readonly browser: Browser,
    private readonly folder: string,
  ) {}

  static async open(): Promise<Studio> {
    const [port] = await freePorts([{ host: '127.0.0.1', port: 0 }])
    const origin = `http://${REACHABLE_HOST}:${port}`
    const running = await startService(
      {
        COUNTERSIGN_CAPTURE_LISTEN: `127.0.0.1:${port}`,
        COUNTERSIGN_CAPTURE_URL: origin,
        COUNTERSIGN_CHALLENGE_TTL_SECONDS: '300',
      },
      { clock: new ManualClock(BEGIN) },
    )
    const { tenant, sandboxKey, signingSecret } = await running.service.core.tenancy.create('bank-of-ada', {
      ratePerSecond: 1000,
    })
    const { id, secret } = signingSecret
    const sandbox = apiClient(running.service.url('sandbox'), sandboxKey)
    const sample = { id: tenant.id, name: tenant.name, sandboxKey, secret: { id, secret }, sandbox }
    await allowReturn(running, sample, { company: 'Bank of Ada' })
    const production = await running.production(sample)
    await sendSampleTraffic(running, production)
    await setPolicy(running, sample.id, guidePolicy())
    const folder = await mkdtemp(join(tmpdir(), 'countersign-pictures-'))
    const film = join(folder, 'film.y4m')
    await writeFilm(film, await drawnPerson(), CAMERA)
    return new Studio(running, sample, production, await launchWithCamera(film, origin), folder)
  }

  async close(): Promise<void> {
    await this.browser.close()
    await this.running.stop()
    await rm(this.folder, { recursive: true, force: true })
  }

  /** An empty page, whose clock stands where the service's does. */
  async page(colorScheme: Scheme, width: number, height: number, options: BrowserContextOptions = {}) {
    const context = await this.browser.newContext({
      colorScheme,
      viewport: { width, height },
      deviceScaleFactor: SCALE,
      locale: 'en-US',
      timezoneId: 'UTC',
      reducedMotion: 'reduce',
      permissions: ['camera'],
      ...options,
    })
    const page = await context.newPage()
    await page.clock.setFixedTime(this.running.clock.now())
    return page
  }

  /** A page of the tenant's dashboard, as the tenant's admin sees it. @param path such as `requests?user=ada` */
  async dashboard(page: Page, path: string): Promise<void> {
    const { adminUrl } = this.running.service
    await page.goto(`${adminUrl}/#/login/${await loginToken(this.running, this.tenant.id)}`)
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
    await page.goto(`${adminUrl}/#/${path}`)
    await loaded(page)
  }

  /** A page about the tenant, as an operator of the installation sees it. */
  async operatorsDashboard(page: Page, path: string): Promise<void> {
    const { adminUrl } = this.running.service
    await page.goto(adminUrl)
    await page.getByLabel('Password', { exact: true }).fill(OPERATOR_PASSWORD)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'Tenants' }).waitFor()
    await page.goto(`${adminUrl}/#/tenants/${this.tenant.id}/${path}`)
    await loaded(page)
  }

  /** The hosted page of a new session. The sandbox takes the drawn person for one; production sees that it is a drawing. */
  async hostedPage(page: Page, environment: 'production' | 'sandbox'): Promise<void> {
    const [api, user_id] =
      environment === 'production'
        ? [this.production, 'customer-1001']
        : [this.tenant.sandbox, 'customer-1001+match']
    const description = 'Transfer of 1250.00 EUR to Grace'
    const { body } = await askForSession(api, { user_id, action: SAMPLE_ACTION, description })
    await page.goto(body.url)
    await begun(page)
  }
}
