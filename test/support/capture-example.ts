/** A server of docs/examples as a process of its own: a customer's backend, with its page where it has one. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { packageFile } from '../../src/package-root.js'
import { leash } from './leash.js'
import type { TestTenant } from './service.js'

export interface CaptureExample {
  address: string
  stop(): Promise<void>
}

/**
 * @param baseUrl of the service's production or sandbox
 * @param apiKey of the same
 * @param example folder under docs/examples
 */
export async function startCaptureExample(
  tenant: TestTenant,
  { baseUrl, apiKey, example = 'capture' }: { baseUrl: string; apiKey: string; example?: string },
): Promise<CaptureExample> {
  const backend = spawn(
    process.execPath,
    [...leash(), packageFile('docs', 'examples', example, 'server.mjs')],
    {
      env: {
        ...process.env,
        CS_BASE_URL: baseUrl,
        CS_API_KEY: apiKey,
        CS_SIGNING_SECRETS: `${tenant.secret.id}:${tenant.secret.secret}`,
        CS_TENANT_ID: tenant.id,
        CS_ACCEPT_EVALUATION: 'true',
        PORT: '0',
      },
    },
  )
  backend.stderr.setEncoding('utf8').on('data', (text) => process.stderr.write(text))
  const [line] = await once(backend.stdout, 'data')
  return {
    address: String(line).trim(),
    async stop() {
      if (backend.exitCode !== null) return
      backend.kill()
      await once(backend, 'exit')
    },
  }
}
