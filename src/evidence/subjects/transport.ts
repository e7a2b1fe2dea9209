/** Judges who can read what crosses the network: TLS of each listener. */
import { type Config, captureOrigin, type ListenAddress, type SettingName } from '../../config/config.js'
import { isLoopbackHost } from '../../config/loopback-host.js'
import { type Evidence, type Judgement, judged, met, notMet, partly, together } from '../evidence.js'

const TESTS = ['test/http/listeners/tls.test.ts', 'test/http/listeners/tls-suites.test.ts']

interface Listener {
  name: string
  setting: SettingName
  certificate: SettingName
  address: ListenAddress
  isEncrypted: boolean
}

function judgeListener({ tlsTerminatedUpstream }: Config, listener: Listener): Judgement {
  const { name, setting, certificate, address, isEncrypted } = listener
  const place = `${address.host}:${address.port}`
  if (isEncrypted) return met(`The ${name} serves TLS 1.2 and 1.3, with forward secrecy only.`)
  if (tlsTerminatedUpstream) return met(`TLS of the ${name} ends at a proxy, as the configuration declares.`)
  if (isLoopbackHost(address.host))
    return partly(
      `The ${name} is at ${place} without TLS: no network is crossed, and a proxy in front must end TLS.`,
      certificate,
    )
  return notMet(`The ${name} is at ${place}, which other hosts may reach, without TLS.`, certificate, setting)
}

const ofApi = (config: Config): Judgement =>
  judgeListener(config, {
    name: 'production API',
    setting: 'productionListen',
    certificate: 'tlsCert',
    address: config.productionListen,
    isEncrypted: config.tlsCert !== undefined,
  })

function ofCapturePage(config: Config): Judgement {
  const { captureListen, captureUrl } = config
  const origin = captureOrigin(config)
  if (!captureListen || origin === null) return met('The hosted capture page is not served.')
  if (origin.startsWith('https:')) return met('The hosted capture page is reached by https.')
  const host = captureUrl === undefined ? captureListen.host : new URL(captureUrl).hostname
  if (isLoopbackHost(host)) return met('Only this machine reaches the hosted capture page.')
  return notMet('Other hosts reach the hosted capture page without TLS.', 'captureTlsCert', 'captureUrl')
}

/** Photos, frames, keys and verdicts between caller and API. */
export const apiTransport: Evidence = judged(({ config }) => ofApi(config), {
  settings: ['tlsCert', 'tlsTerminatedUpstream', 'productionListen'],
  tests: TESTS,
  documents: ['operations/tls.md', 'http-edge.md'],
})

/** The same, and the hosted capture page. */
export const callerTransport: Evidence = together(
  apiTransport,
  judged(({ config }) => ofCapturePage(config), {
    settings: ['captureTlsCert', 'captureUrl'],
    tests: ['test/capture-page/capture-page.test.ts'],
    documents: ['guides/hosted-page.md'],
  }),
)

/** Passwords and sessions of operators, and metrics. */
export const adminTransport: Evidence = judged(
  ({ config }) => {
    const { adminListen: address, adminTlsCert } = config
    const judgement = judgeListener(config, {
      name: 'admin listener',
      setting: 'adminListen',
      certificate: 'adminTlsCert',
      address,
      isEncrypted: adminTlsCert !== undefined,
    })
    if (isLoopbackHost(address.host)) return met('Only this machine reaches the admin listener.')
    if (judgement.status !== 'met') return judgement
    return partly(
      `Other hosts may reach the admin listener at ${address.host}:${address.port}: keep it in a private network.`,
      'adminListen',
    )
  },
  {
    settings: ['adminListen', 'adminTlsCert'],
    tests: ['test/dashboard/admin-access.test.ts', 'test/dashboard/admin-server.test.ts'],
    documents: ['threat-model.md#attackers', 'operations/tls.md'],
  },
)
