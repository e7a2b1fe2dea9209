/** The service and the browser for a file of page tests, a page of its own for each test, and the checks that every page must pass. */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser, Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CHROMIUM, launchBrowser, loaded, openPage, violations } from '../support/browser.js'
import type { ApiClient } from '../support/client.js'
import { loginToken } from '../support/dashboard.js'
import { base64, face } from '../support/faces.js'
import { OPERATOR_PASSWORD } from '../support/operator.js'
import { startService, type TestService, type TestTenant } from '../support/service.js'

/** Folder for screenshots of the pages, for people to look at. */
const PICTURES = process.env.COUNTERSIGN_TEST_PICTURES

/** A color scheme and a width in pixels in which pages are looked at. */
type Look = readonly ['light' | 'dark', number]
/** @param named as in `light 1280, dark 390` */
export const looks = (named: string) =>
  named.split(', ').map((one) => [one.split(' ')[0], Number(one.split(' ')[1])] as unknown as Look)
const DESKTOP: Look = ['light', 1280]
export const VIEWPORTS = looks('light 1280, dark 390')
export const NARROW = looks('light 1280, dark 360')

/** The steps that tests of the dashboard take in a page of the browser. */
interface Steps {
  scheme: 'light' | 'dark'
  width: number
  /** Turns the page into one of another screen. */
  resize(...look: Look): Promise<void>
  /** Errors of the page and of its console so far. */
  errors: string[]
  button(name: string | RegExp): Locator
  /** A button of the open dialog. */
  answer(name: string | RegExp): Locator
  heading(level: 1 | 2, name: string | RegExp): Locator
  /** Goes to a page of the dashboard by what follows the # in its address. */
  go(path: string): Promise<unknown>
  /** Signs in by a login link of the tenant, and goes to one of its pages. */
  signInByLink(tenant: TestTenant, path?: string): Promise<void>
  /** Signs in by the operator's password, or by another password with a name, and goes to a page. */
  signIn(path?: string, password?: string, name?: string): Promise<void>
  /** Checks that the page is accessible and no wider than the screen, and takes a screenshot under the name. */
  inspect(name?: string): Promise<void>
  /** Checks that the open dialog is accessible. */
  inspectDialog(): Promise<void>
  /** Takes a screenshot under the name. */
  picture(name: string): Promise<void>
  /** The test brings about errors of the console that hold this text: the status of a refusal, usually. */
  tolerate(text: string): void
}
export type DashboardPage = Page & Steps

type Runner = (title: string, test: (page: DashboardPage) => Promise<void>) => void

export class PageTests {
  running!: TestService
  browser!: Browser

  /** Starts the service and the browser before all tests of the surrounding `describe`, and stops both after them. */
  constructor(
    start: Record<string, string> | (() => Promise<TestService>) = {},
    private readonly launch = launchBrowser,
  ) {
    beforeAll(async () => {
      this.running = await (typeof start === 'function' ? start() : startService(start))
      this.browser = await this.launch()
    })
    afterAll(async () => {
      await this.browser?.close()
      await this.running?.stop()
    })
  }

  get url(): string {
    return this.running.service.adminUrl
  }

  /** A test in a page that is closed after it, and that has had no error but those that the test tolerates. */
  it: Runner = (title, test) => this.run(title, DESKTOP, test)

  /** Tests that are run once in each of the looks, which their titles name. */
  inLooks(looks: readonly Look[], suite: (it: Runner) => void): void {
    suite((title, test) => {
      for (const look of looks) this.run(`${title} (${look[0]}, ${look[1]} px)`, look, test)
    })
  }

  private run(title: string, look: Look, test: (page: DashboardPage) => Promise<void>): void {
    it(title, { timeout: 120_000 }, async () => {
      const page = await this.open(look)
      await test(page)
      expect(page.errors).toEqual([])
      await page.context().close()
    })
  }

  /** Opens an empty page. @param options default: of this file's service, without permissions */
  async open(
    [scheme, width]: Look = DESKTOP,
    { running = this.running, permissions = [] }: { running?: TestService; permissions?: string[] } = {},
  ): Promise<DashboardPage> {
    const look = { colorScheme: scheme, width, permissions }
    const { page, errors } = await openPage(this.browser, running, look)
    return withSteps(page, [scheme, width], running, errors)
  }
}

/** The page, with the steps of these tests. */
export function withSteps(
  page: Page,
  [scheme, width]: Look,
  running: TestService,
  errors: string[] = [],
): DashboardPage {
  const tolerated: string[] = []
  const url = running.service.adminUrl
  const heading: Steps['heading'] = (level, name) => page.getByRole('heading', { level, name })
  const go = (path: string) => page.goto(`${url}/#/${path}`)
  const picture = async (name: string) => {
    const path = `${PICTURES}/${name}-${scheme}-${width}.png`
    if (PICTURES) await page.screenshot({ path, fullPage: true })
  }
  const steps: Steps = {
    ...{ scheme, width, heading, go, picture },
    async resize(colorScheme, to) {
      width = to
      await page.setViewportSize({ width, height: 900 })
      await page.emulateMedia({ colorScheme })
    },
    get errors() {
      return errors.filter((text) => !tolerated.some((one) => text.includes(one)))
    },
    tolerate: (text) => void tolerated.push(text),
    button: (name) => page.getByRole('button', { name }),
    answer: (name) => page.getByRole('dialog').getByRole('button', { name }),
    async signInByLink(tenant, path) {
      await go(`login/${await loginToken(running, tenant.id)}`)
      await heading(1, 'Overview').waitFor()
      if (path) await go(path)
    },
    async signIn(path, password = OPERATOR_PASSWORD, name = '') {
      await page.goto(url)
      await page.getByLabel('User name', { exact: true }).fill(name)
      await page.getByLabel('Password', { exact: true }).fill(password)
      await page.keyboard.press('Enter')
      await heading(1, 'Tenants').waitFor()
      if (path) await go(path)
      await loaded(page)
    },
    async inspect(name) {
      await loaded(page)
      expect(await violations(page)).toEqual([])
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width)
      if (name) await picture(name)
    },
    inspectDialog: async () => expect(await violations(page, 'dialog')).toEqual([]),
  }
  return Object.defineProperties(page, Object.getOwnPropertyDescriptors(steps)) as DashboardPage
}

/** A suite of page tests, where a browser is installed. */
export function inChromium(subject: string, suite: () => void): void {
  describe.skipIf(!CHROMIUM)(`${subject} in Chromium`, suite)
}

/** Enrols Ada, and has so many verifications of somebody else rejected that she is locked out. */
export async function lockOut(client: ApiClient): Promise<void> {
  const [ada, grace] = [base64(await face('ada')), base64(await face('grace'))]
  await client.enroll({ user_id: 'ada', image: ada })
  for (let i = 0; i < 5; i++) await client.verify({ user_id: 'ada', image: grace, action: 'x' })
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
