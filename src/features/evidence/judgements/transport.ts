/** Judges who can read what crosses the network: TLS of each listener. */
import type { Config } from '../../../config/config.js'
import { originOf } from '../../../config/listener-settings.js'
import { isLoopbackHost } from '../../../config/loopback-host.js'
import { type Evidence, type Judgement, met, notMet, partly } from '../evidence.js'

function judgeListener(
  config: Config,
  name: string,
  setting: 'productionListen' | 'adminListen',
  certificate: 'tlsCert' | 'adminTlsCert',
): Judgement {
  const { host, port } = config[setting]
  if (config[certificate] !== undefined)
    return met(`The ${name} serves TLS 1.2 and 1.3, with forward secrecy only.`)
  if (config.tlsTerminatedUpstream)
    return met(`TLS of the ${name} ends at a proxy, as the configuration declares.`)
  if (isLoopbackHost(host))
    return partly(
      `The ${name} is at ${host}:${port} without TLS: no network is crossed, and a proxy in front must end TLS.`,
      certificate,
    )
  return notMet(
    `The ${name} is at ${host}:${port}, which other hosts may reach, without TLS.`,
    certificate,
    setting,
  )
}

/** Photos, frames, keys and verdicts between caller and API. */
export const apiTransport: Evidence = {
  judge: ({ config }) => judgeListener(config, 'production API', 'productionListen', 'tlsCert'),
  settings: ['tlsCert', 'tlsTerminatedUpstream', 'productionListen'],
  tests: 'http/listeners/tls http/listeners/tls-suites',
  documents: 'operations/tls.md internals/http-edge.md',
}

/** The same, and the hosted capture page. */
export const callerTransport: readonly Evidence[] = [
  apiTransport,
  {
    judge: ({ config }) => {
      const { captureListen, captureUrl } = config
      const origin = originOf(config, 'capture')
      if (!captureListen || origin === null) return met('The hosted capture page is not served.')
      if (origin.startsWith('https:')) return met('The hosted capture page is reached by https.')
      const host = captureUrl === undefined ? captureListen.host : new URL(captureUrl).hostname
      if (isLoopbackHost(host)) return met('Only this machine reaches the hosted capture page.')
      return notMet('Other hosts reach the hosted capture page without TLS.', 'captureTlsCert', 'captureUrl')
    },
    settings: ['captureTlsCert', 'captureUrl'],
    tests: 'features/capture-sessions/capture-page',
    documents: 'guides/hosted-page.md',
  },
]

/** Passwords and sessions of operators, and metrics. */
export const adminTransport: Evidence = {
  judge: ({ config }) => {
    const { host, port } = config.adminListen
    if (isLoopbackHost(host)) return met('Only this machine reaches the admin listener.')
    const judgement = judgeListener(config, 'admin listener', 'adminListen', 'adminTlsCert')
    if (judgement.status !== 'met') return judgement
    return partly(
      `Other hosts may reach the admin listener at ${host}:${port}: keep it in a private network.`,
      'adminListen',
    )
  },
  settings: ['adminListen', 'adminTlsCert'],
  tests: 'dashboard/admin-access http/admin/admin-server',
  documents: 'threat-model.md#attackers operations/tls.md',
}
