/** A service whose hosted page may use passkeys: it has a port of its own, since a passkey belongs to an address. */
import { freePorts } from '../../src/http/free-port.js'
import { allowReturn } from './capture-page.js'
import { usePasskeys } from './passkeys.js'
import { startService, type TestService, type TestTenant } from './service.js'

/** @param settings further settings of the service */
export async function startPasskeyPage(settings: Record<string, string> = {}): Promise<{
  running: TestService
  tenant: TestTenant
  /** Origin of the hosted page. */
  origin: string
}> {
  const [port] = await freePorts([{ host: '127.0.0.1', port: 0 }])
  // Browsers use passkeys over https, and on localhost.
  const origin = `http://localhost:${port}`
  const running = await startService({
    COUNTERSIGN_CAPTURE_LISTEN: `127.0.0.1:${port}`,
    COUNTERSIGN_CAPTURE_URL: origin,
    COUNTERSIGN_SANDBOX_RATE_LIMIT: '1000/s',
    ...settings,
  })
  const tenant = await running.tenant()
  await allowReturn(running, tenant)
  await usePasskeys(running, tenant, { rpId: 'localhost', origins: [origin] })
  return { running, tenant, origin }
}
