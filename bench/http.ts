/** The http suite: the same health handler behind our uWebSockets.js listener and behind node:http, in turns. */
import { progressSteps } from '../src/cli/progress.js'
import { HelperProcess } from './lib/helper-process.js'
import type { HttpOrder, HttpResult, Transport } from './lib/http-orders.js'
import { type LoadGenerator, startLoadGenerator } from './lib/load-generator.js'
import { median, percentile, round } from './lib/statistics.js'
import { temporaryDir } from './lib/temporary-dir.js'
import type { Suite } from './suite.js'

const TRANSPORTS: readonly [Transport, Transport] = ['uWebSockets.js', 'node:http']
const CONNECTIONS = [1, 32] as const
/** Rounds of each server; who goes first changes every time. */
const ROUNDS = 6
/** At the start of each round, until caches and clock rates have settled. */
const WARM_UP_SECONDS = 0.3

interface Round {
  perSecond: number
  p50Ms: number
  p99Ms: number
  /** The server's, a request. */
  cpuMs: number
  /** The load generator's CPU time, as a share of one core. */
  loadShare: number
}

interface Comparison {
  connections: number
  rounds: Record<Transport, Round[]>
}

export const http: Suite = {
  name: 'http',
  description: 'the health handler behind uWebSockets.js against node:http',
  defaultSeconds: 20,
  async run({ pack, seconds }) {
    const servers = {} as Record<Transport, HelperProcess<HttpOrder, HttpResult>>
    const load = startLoadGenerator()
    for (const transport of TRANSPORTS) {
      const server = HelperProcess.start<HttpOrder, HttpResult>(
        new URL('./lib/http-process.js', import.meta.url),
      )
      servers[transport] = server
      await server.ask({ type: 'listen', transport, dataDir: await temporaryDir() })
    }
    const progress = progressSteps('http')
    const steps = CONNECTIONS.length * ROUNDS * TRANSPORTS.length
    let step = 0
    const comparisons: Comparison[] = []
    try {
      for (const connections of CONNECTIONS) {
        const rounds: Record<Transport, Round[]> = { 'uWebSockets.js': [], 'node:http': [] }
        for (let turn = 0; turn < ROUNDS; turn++) {
          for (const transport of turn % 2 === 0 ? TRANSPORTS : TRANSPORTS.toReversed()) {
            progress.update(step++, steps, `${connections} connections`)
            rounds[transport].push(await measure(servers[transport], load, connections, seconds / steps))
          }
        }
        comparisons.push({ connections, rounds })
      }
      progress.update(steps, steps, 'done')
    } finally {
      progress.stop()
    }
    await load.stop()
    for (const transport of TRANSPORTS) await servers[transport].stop()

    const figures = comparisons.map(summarise)
    const loadShares = comparisons.flatMap(({ rounds }) =>
      TRANSPORTS.flatMap((transport) => rounds[transport].map(({ loadShare }) => loadShare)),
    )
    return {
      suite: 'http',
      model: pack.modelId,
      seconds,
      summary: Object.fromEntries(
        figures.map(({ connections, ours, node, ratios }) => [
          `connections_${connections}`,
          {
            uws_per_s: round(ours.perSecond, 0),
            node_per_s: round(node.perSecond, 0),
            per_s_ratio: round(ratios.perSecond, 3),
            uws_p50_ms: round(ours.p50Ms, 4),
            node_p50_ms: round(node.p50Ms, 4),
            p50_ratio: round(ratios.p50Ms, 3),
          },
        ]),
      ),
      tables: figures.map(({ connections, ours, node, ratios }) => {
        const row = (label: string, key: keyof Round, digits: number) => [
          label,
          ours[key].toFixed(digits),
          node[key].toFixed(digits),
          ratios[key].toFixed(2),
        ]
        return {
          title: `GET /v1/health, ${connections} ${connections === 1 ? 'connection' : 'connections'}`,
          rows: [
            ['', ...TRANSPORTS, 'ratio'],
            row('requests per second', 'perSecond', 0),
            row('p50, ms', 'p50Ms', 3),
            row('p99, ms', 'p99Ms', 3),
            row('CPU of the server per request, ms', 'cpuMs', 4),
          ],
        }
      }),
      charts: figures.map(({ connections, ours, node }) => ({
        title: `GET /v1/health, ${connections} ${connections === 1 ? 'connection' : 'connections'}`,
        unit: 'requests per second',
        bars: [
          { label: TRANSPORTS[0], value: ours.perSecond },
          { label: TRANSPORTS[1], value: node.perSecond, pale: true },
        ],
      })),
      notes: [
        'Both processes run the same handler: authentication, rate limit, database, signature, log and metrics included; only the HTTP server differs. No engine runs.',
        `Figures are medians of ${ROUNDS} rounds, ratios the medians of the rounds' ratios, uWebSockets.js over node:http.`,
        `The load generator is one thread on the same cores; it took ${Math.round(median(loadShares) * 100)} % of a core in the median round, at most ${Math.round(Math.max(...loadShares) * 100)} %. Near 100 %, it is what is measured.`,
      ],
      details: { comparisons },
      failures: [],
    }
  },
}

async function measure(
  server: HelperProcess<HttpOrder, HttpResult>,
  load: LoadGenerator,
  connections: number,
  seconds: number,
): Promise<Round> {
  const { cpuMs: before, origin, key } = await server.ask({ type: 'cpu' })
  const target = { origin, key }
  const { latenciesMs, requests, cpuMs, wallMs } = await load.ask({
    type: 'health',
    target,
    connections,
    warmUpSeconds: WARM_UP_SECONDS,
    seconds,
  })
  const { cpuMs: after } = await server.ask({ type: 'cpu' })
  return {
    perSecond: (latenciesMs.health.length * 1000) / wallMs,
    p50Ms: median(latenciesMs.health),
    p99Ms: percentile(latenciesMs.health, 0.99),
    cpuMs: (after - before) / requests,
    loadShare: cpuMs / wallMs,
  }
}

function summarise({ connections, rounds }: Comparison) {
  const [ours, node] = TRANSPORTS.map((transport) => rounds[transport]) as [Round[], Round[]]
  const medians = (pick: (key: keyof Round) => number[]): Round => ({
    perSecond: median(pick('perSecond')),
    p50Ms: median(pick('p50Ms')),
    p99Ms: median(pick('p99Ms')),
    cpuMs: median(pick('cpuMs')),
    loadShare: median(pick('loadShare')),
  })
  return {
    connections,
    ours: medians((key) => ours.map((one) => one[key])),
    node: medians((key) => node.map((one) => one[key])),
    ratios: medians((key) => ours.map((one, i) => one[key] / node[i]![key])),
  }
}
