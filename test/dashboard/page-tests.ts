/** The service and the browser for a file of page tests, a page of its own for each test, and the checks that every page must pass. */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { SECOND_MS } from '../../src/lib/clock.js'
import { CHROMIUM, launchBrowser, loaded, violations } from '../support/browser.js'
import type { ApiClient } from '../support/client.js'
import { loginToken } from '../support/dashboard.js'
import { base64, face } from '../support/faces.js'
import { OPERATOR_PASSWORD } from '../support/operator.js'
import { startService, type TestService, type TestTenant } from '../support/service.js'

/** Folder for screenshots of the pages, for people to look at. */
const PICTURES = process.env.COUNTERSIGN_TEST_PICTURES

/** A color scheme and a width in pixels in which pages are looked at. */
type Look = readonly ['light' | 'dark', number]
const DESKTOP: Look = ['light', 1280]
export const VIEWPORTS = 'light 1280, dark 390'
export const NARROW = 'light 1280, dark 360'
export const EVERY_LOOK = 'light 1280, dark 1280, light 390, dark 390'

export type DashboardPage = Page & ReturnType<typeof stepsIn>

/** Declares a test in a page that is closed after it, and that has had no error but those that the test tolerates. */
type Runner = (title: string, test: (page: DashboardPage) => Promise<void>) => void

class PageTests {
  running!: TestService
  browser!: Browser
  /** A tenant that the tests of the file share. */
  tenant!: TestTenant

  /** Starts the service and the browser before all tests of the surrounding `describe`, and stops both after them. */
  constructor(start: Record<string, string> | (() => Promise<TestService>) = {}, launch = launchBrowser) {
    beforeAll(async () => {
      this.running = await (typeof start === 'function' ? start() : startService(start))
      this.tenant = await this.running.tenant()
      this.browser = await launch()
    })
    afterAll(async () => {
      await this.browser?.close()
      await this.running?.stop()
    })
  }

  get url(): string {
    return this.running.service.adminUrl
  }

  /** Declares a test; `it.in('light 1280, dark 390')` one that is run once in each of these looks, which its titles name. */
  it = Object.assign<Runner, { in: (looks: string) => Runner }>(
    (title, test) => this.run(title, DESKTOP, test),
    {
      in: (looks) => (title, test) => {
        for (const look of looks.split(', ')) {
          const [scheme, width] = look.split(' ') as [Look[0], string]
          this.run(`${title} (${look} px)`, [scheme, Number(width)], test)
        }
      },
    },
  )

  private run(title: string, look: Look, test: (page: DashboardPage) => Promise<void>): void {
    it(title, { timeout: 120_000 }, async () => {
      const page = await this.open(look)
      await test(page)
      expect(page.errors).toEqual([])
      await page.context().close()
    })
  }

  /** Opens an empty page, by default of this file's service. */
  async open(
    [colorScheme, width]: Look = DESKTOP,
    { running = this.running, ...options }: BrowserContextOptions & { running?: TestService } = {},
  ): Promise<DashboardPage> {
    // Time for one more sign-in from this address.
    running.clock.advance(10 * SECOND_MS)
    const viewport = { width, height: 900 }
    const page = await (await this.browser.newContext({ colorScheme, viewport, ...options })).newPage()
    const steps = stepsIn(page, [colorScheme, width], running)
    return Object.defineProperties(page, Object.getOwnPropertyDescriptors(steps)) as DashboardPage
  }
}

/** The steps that tests of the dashboard take in a page of the browser. */
function stepsIn(page: Page, [scheme, width]: Look, running: TestService) {
  const errors: string[] = []
  const tolerated: string[] = []
  page.on('pageerror', (error) => errors.push(error.message))
  page.on('console', (message) => {
    const isSignedOut = message.text().includes('401')
    if (message.type() === 'error' && !isSignedOut) errors.push(message.text())
  })
  const url = running.service.adminUrl
  const heading = (level: 1 | 2, name: string | RegExp) => page.getByRole('heading', { level, name })
  /** Goes to a page of the dashboard by what follows the # in its address. */
  const go = (path: string) => page.goto(`${url}/#/${path}`)
  /** Takes a screenshot under the name. */
  const picture = async (name: string) => {
    const path = `${PICTURES}/${name}-${scheme}-${width}.png`
    if (PICTURES) await page.screenshot({ path, fullPage: true })
  }
  return {
    ...{ scheme, width, heading, go, picture },
    /** Turns the page into one of another screen. */
    async resize(...[colorScheme, to]: Look) {
      width = to
      await page.setViewportSize({ width, height: 900 })
      await page.emulateMedia({ colorScheme })
    },
    /** Errors of the page and of its console so far. */
    get errors() {
      return errors.filter((text) => !tolerated.some((one) => text.includes(one)))
    },
    /** The test brings about errors of the console that hold this text: the status of a refusal, usually. */
    tolerate: (text: string) => void tolerated.push(text),
    button: (name: string | RegExp) => page.getByRole('button', { name }),
    /** A button of the open dialog. */
    answer: (name: string | RegExp) => page.getByRole('dialog').getByRole('button', { name }),
    /** Signs in by a login link of the tenant, and goes to one of its pages. */
    async signInByLink(tenant: TestTenant, path?: string) {
      await go(`login/${await loginToken(running, tenant.id)}`)
      await heading(1, 'Overview').waitFor()
      if (path) await go(path)
    },
    /** Signs in by the operator's password, or by another password with a name, and goes to a page. */
    async signIn(path?: string, password = OPERATOR_PASSWORD, name = '') {
      await page.goto(url)
      await page.getByLabel('User name', { exact: true }).fill(name)
      await page.getByLabel('Password', { exact: true }).fill(password)
      await page.keyboard.press('Enter')
      await heading(1, 'Tenants').waitFor()
      if (path) await go(path)
      await loaded(page)
    },
    /** Types a user id on a page that asks for one. */
    async lookUp(userId: string) {
      await page.getByLabel('User id').fill(userId)
      await page.keyboard.press('Enter')
    },
    /** Checks that the page is accessible and no wider than the screen, and takes a screenshot under the name. */
    async inspect(name?: string) {
      await loaded(page)
      expect(await violations(page)).toEqual([])
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width)
      if (name) await picture(name)
    },
    /** Checks that the open dialog is accessible. */
    inspectDialog: async () => expect(await violations(page, 'dialog')).toEqual([]),
  }
}

type Suite = (subject: string, suite: (it: PageTests['it'], tests: PageTests) => void) => void

/** Declares a suite of page tests, where a browser is installed. @param options how service and browser start */
export const inChromiumWith =
  (...options: ConstructorParameters<typeof PageTests>): Suite =>
  (subject, suite) =>
    describe.skipIf(!CHROMIUM)(`${subject} in Chromium`, () => {
      const tests = new PageTests(...options)
      suite(tests.it, tests)
    })
export const inChromium = inChromiumWith()

/** Enrols Ada, and has so many verifications of somebody else rejected that she is locked out. */
export async function lockOut(client: ApiClient): Promise<void> {
  const [ada, grace] = [base64(await face('ada')), base64(await face('grace'))]
  await client.enroll({ user_id: 'ada', image: ada })
  for (let i = 0; i < 5; i++) await client.verify({ user_id: 'ada', image: grace, action: 'x' })
}

/** A photo as a field for files takes it. */
export async function photo(name: Parameters<typeof face>[0]) {
  return { name: `${name}.jpg`, mimeType: 'image/jpeg', buffer: Buffer.from(await face(name)) }
}

/** An endpoint that accepts every delivery. */
export async function receiverOfHooks(): Promise<{ url: string; receiver: Server }> {
  const receiver = createServer((request, response) => {
    request.resume()
    response.writeHead(204).end()
  })
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
  return { url: `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`, receiver }
}
