/** A server of docs/examples as a process of its own: a customer's backend, with its page where it has one. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { BrowserContext, Page } from 'playwright-core'
import { packageFile } from '../../src/lib/package-root.js'
import { leash } from './leash.js'
import type { TestTenant } from './service.js'

export interface CaptureExample {
  address: string
  /** Everything that it has printed after its address. */
  said(): string
  stop(): Promise<void>
}

/** The environment by which an example finds the service. @param baseUrl of its production or sandbox @param apiKey of the same */
export function exampleEnv(
  tenant: Pick<TestTenant, 'id' | 'secret'>,
  { baseUrl, apiKey }: { baseUrl: string; apiKey: string },
): NodeJS.ProcessEnv {
  return {
    ...process.env,
    CS_BASE_URL: baseUrl,
    CS_API_KEY: apiKey,
    CS_SIGNING_SECRETS: `${tenant.secret.id}:${tenant.secret.secret}`,
    CS_TENANT_ID: tenant.id,
    CS_ACCEPT_EVALUATION: 'true',
    CS_ENVIRONMENT: apiKey.startsWith('svc-sbx-') ? 'sandbox' : 'production',
    PORT: '0',
    PYTHONDONTWRITEBYTECODE: '1',
  }
}

/**
 * @param baseUrl of the service's production or sandbox
 * @param apiKey of the same
 * @param example folder under docs/examples
 * @param command program and arguments of an example in another language
 */
export async function startCaptureExample(
  tenant: Pick<TestTenant, 'id' | 'secret'>,
  {
    baseUrl,
    apiKey,
    example = 'capture',
    command = [process.execPath, ...leash(), packageFile('docs', 'examples', example, 'server.mjs')],
  }: { baseUrl: string; apiKey: string; example?: string; command?: string[] },
): Promise<CaptureExample> {
  const [program = '', ...args] = command
  const backend = spawn(program, args, { env: exampleEnv(tenant, { baseUrl, apiKey }) })
  backend.stderr.setEncoding('utf8').on('data', (text) => process.stderr.write(text))
  const [line] = await once(backend.stdout, 'data')
  let said = ''
  backend.stdout.on('data', (text) => {
    said += text
  })
  return {
    address: String(line).trim(),
    said: () => said,
    async stop() {
      if (backend.exitCode !== null) return
      backend.kill()
      await once(backend, 'exit')
    },
  }
}

/** A page of a context whose camera is allowed, and its error messages. */
export async function patientPage(context: BrowserContext): Promise<{ page: Page; complaints: string[] }> {
  // Only the time limit of the test applies.
  context.setDefaultTimeout(0)
  const page = await context.newPage()
  // A busy machine is slow to encode, and the sandbox judges no frames.
  await page.route('**/challenges', async (route) => {
    const response = await route.fetch()
    const { capture, ...body } = await response.json()
    const json = capture ? { ...body, capture: { ...capture, max_interval_ms: 5000 } } : body
    await route.fulfill({ response, json })
  })
  const complaints: string[] = []
  page.on('pageerror', (error) => complaints.push(error.message))
  return { page, complaints }
}
