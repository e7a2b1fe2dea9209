/**
 * The http suite: the two HTTP servers in turns, with only the health handler and with the whole service's verify.
 * Units: requests per second, milliseconds, CPU milliseconds per request.
 */
import { progressSteps } from '../src/cli/lib/progress.js'
import type { TransportName } from '../src/http/listeners/transport.js'
import { takeCaptures } from './lib/captures.js'
import { HelperProcess } from './lib/helper-process.js'
import type { HttpOrder, HttpResult } from './lib/http-orders.js'
import { type LoadGenerator, startLoadGenerator } from './lib/load-generator.js'
import type { LoadResult } from './lib/load-orders.js'
import { SERVICE_ROOMS } from './lib/measured-code.js'
import { type RunningService, startService } from './lib/service-process.js'
import { carriedPercentile, median, round, shown, TOO_FEW_SAMPLES } from './lib/statistics.js'
import { temporaryDir } from './lib/temporary-dir.js'
import type { Suite, SuiteOptions } from './suite.js'

const TRANSPORTS = ['uws', 'node'] as const satisfies TransportName[]
const LABELS: Record<TransportName, string> = { uws: 'uWebSockets.js', node: 'node:http' }
/** Rounds of each server; their order changes every time. */
const ROUNDS = 6
/** Seconds at the start of each round in which caches and clock rates settle. */
const WARM_UP_SECONDS = { health: 0.3, verify: 0.5 } as const
/** Seconds of load before the first round, after which the JavaScript is compiled as in operation. */
const SETTLING_SECONDS = 2
const USERS = 20

interface Round {
  perSecond: number
  p50Ms: number
  /** 99th percentile in milliseconds; NaN where a round has too few samples for it. */
  p99Ms: number
  /** CPU time of all threads of the server per request, in milliseconds; NaN where the system does not report it. */
  cpuMs: number
  /** The load generator's CPU time, as a share of one core. */
  loadShare: number
}

/** One kind of load, which either server gets. */
interface Case {
  id: string
  /** Share of the suite's measuring time. */
  share: number
  title: string
  measure(transport: TransportName, seconds: number): Promise<Round>
}

type Rounds = Record<TransportName, Round[]>

export const http: Suite = {
  name: 'http',
  description: 'uWebSockets.js against node:http: health and verify',
  measures: SERVICE_ROOMS,
  defaultSeconds: 80,
  async run(options) {
    const { pack, seconds } = options
    const load = startLoadGenerator()
    const health = await startHealthServers()
    const services = await startServices(options, load)
    const cases = [
      ...[1, 32].map((connections) => health.case(connections, load)),
      ...[1, 2 * services.workers].map((callers) => services.case(callers)),
    ]
    const progress = progressSteps('http')
    const steps = cases.length * ROUNDS * TRANSPORTS.length
    let step = 0
    const comparisons: Array<{ title: string; id: string; rounds: Rounds }> = []
    try {
      for (const { id, title, share, measure } of cases) {
        const rounds: Rounds = { uws: [], node: [] }
        for (let turn = 0; turn < ROUNDS; turn++) {
          for (const transport of turn % 2 === 0 ? TRANSPORTS : TRANSPORTS.toReversed()) {
            progress.update(step++, steps, title)
            rounds[transport].push(await measure(transport, (seconds * share) / (ROUNDS * TRANSPORTS.length)))
          }
        }
        comparisons.push({ id, title, rounds })
      }
      progress.update(steps, steps, 'done')
    } finally {
      progress.stop()
    }
    await load.stop()
    await health.stop()
    await services.stop()

    const figures = comparisons.map(({ id, title, rounds }) => ({ id, title, ...summarise(rounds) }))
    const loadShares = comparisons.flatMap(({ rounds }) =>
      TRANSPORTS.flatMap((transport) => rounds[transport].map(({ loadShare }) => loadShare)),
    )
    return {
      suite: 'http',
      model: pack.modelId,
      seconds,
      summary: Object.fromEntries(
        figures.map(({ id, uws, node, ratios }) => [
          id,
          {
            uws_per_s: round(uws.perSecond, 1),
            node_per_s: round(node.perSecond, 1),
            per_s_ratio: round(ratios.perSecond, 3),
            uws_p50_ms: round(uws.p50Ms, 4),
            node_p50_ms: round(node.p50Ms, 4),
            p50_ratio: round(ratios.p50Ms, 3),
            cpu_ratio: measured(round(ratios.cpuMs, 3)),
          },
        ]),
      ),
      tables: figures.map(({ title, uws, node, ratios }) => {
        const row = (label: string, key: keyof Round, digits: number) => [
          label,
          ...[uws[key], node[key]].map((figure) => shown(measured(figure), digits)),
          shown(measured(ratios[key]), 2),
        ]
        return {
          title,
          rows: [
            ['', ...TRANSPORTS.map((transport) => LABELS[transport]), 'ratio'],
            row('requests per second', 'perSecond', 1),
            row('p50, ms', 'p50Ms', 3),
            row('p99, ms', 'p99Ms', 3),
            row('CPU of the server per request, ms', 'cpuMs', 4),
          ],
        }
      }),
      charts: figures.map(({ title, uws, node }) => ({
        title,
        unit: 'requests per second',
        bars: [
          { label: LABELS.uws, value: uws.perSecond },
          { label: LABELS.node, value: node.perSecond, pale: true },
        ],
      })),
      notes: [
        TOO_FEW_SAMPLES,
        'Health: both processes run the same handler: authentication, rate limit, database, signature, log and metrics included; only the HTTP server differs. No engine runs.',
        'Verify: the whole service as a process, engine included, once with each `COUNTERSIGN_HTTP`; TLS ends elsewhere.',
        `Figures are medians of ${ROUNDS} rounds, ratios the medians of the rounds' ratios, uWebSockets.js over node:http.`,
        `The load generator is one thread on the same cores; it took ${Math.round(median(loadShares) * 100)} % of a core in the median round, at most ${Math.round(Math.max(...loadShares) * 100)} %. Near 100 %, it is what is measured.`,
      ],
      details: { comparisons },
      failures: [],
    }
  },
}

async function startHealthServers() {
  const start = async (transport: TransportName) => {
    const server = HelperProcess.start<HttpOrder, HttpResult>(
      new URL('./lib/http-process.js', import.meta.url),
    )
    await server.ask({ type: 'listen', transport, dataDir: await temporaryDir() })
    return server
  }
  const servers = { uws: await start('uws'), node: await start('node') }
  return {
    case: (connections: number, load: LoadGenerator): Case => ({
      id: `health_${connections}`,
      share: 0.125,
      title: `GET /v1/health, ${connections} ${connections === 1 ? 'connection' : 'connections'}`,
      async measure(transport, seconds) {
        const server = servers[transport]
        const { cpuMs: before, origin, key } = await server.ask({ type: 'cpu' })
        const result = await load.ask({
          type: 'health',
          target: { origin, key },
          connections,
          warmUpSeconds: WARM_UP_SECONDS.health,
          seconds,
        })
        const { cpuMs: after } = await server.ask({ type: 'cpu' })
        return toRound(result, result.latenciesMs.health, after - before)
      },
    }),
    async stop() {
      for (const transport of TRANSPORTS) await servers[transport].stop()
    },
  }
}

async function startServices({ pack }: SuiteOptions, load: LoadGenerator) {
  const { enrolImages, verifyImages: images } = await takeCaptures()
  const ask = (service: RunningService, callers: number, warmUpSeconds: number, seconds: number) =>
    load.ask({
      type: 'verify',
      target: { origin: service.production, key: service.key },
      users: USERS,
      images,
      callers,
      warmUpSeconds,
      seconds,
    })
  const start = async (transport: TransportName) => {
    const service = await startService({ pack, transport }, enrolImages[0]!)
    const target = { origin: service.production, key: service.key }
    await load.ask({ type: 'enrol', target, users: USERS, images: enrolImages })
    await ask(service, 2 * service.workers, 0, SETTLING_SECONDS)
    return service
  }
  const services = { uws: await start('uws'), node: await start('node') }
  return {
    workers: services.uws.workers,
    case: (callers: number): Case => ({
      id: `verify_${callers}`,
      share: 0.375,
      title: `POST /v1/verify, ${callers} ${callers === 1 ? 'caller' : 'callers'}`,
      async measure(transport, seconds) {
        const service = services[transport]
        const before = service.cpuTimes()?.all ?? Number.NaN
        const result = await ask(service, callers, WARM_UP_SECONDS.verify, seconds)
        const after = service.cpuTimes()?.all ?? Number.NaN
        return toRound(result, result.latenciesMs.verify, after - before)
      },
    }),
    async stop() {
      for (const transport of TRANSPORTS) await services[transport].stop()
    },
  }
}

function toRound({ requests, cpuMs, wallMs }: LoadResult, latenciesMs: number[], serverCpuMs: number): Round {
  return {
    perSecond: (latenciesMs.length * 1000) / wallMs,
    p50Ms: median(latenciesMs),
    p99Ms: carriedPercentile(latenciesMs, 0.99) ?? Number.NaN,
    cpuMs: serverCpuMs / requests,
    loadShare: cpuMs / wallMs,
  }
}

/** Median over the rounds; NaN if any round has no value. */
function medianOf(figures: number[]): number {
  return figures.some(Number.isNaN) ? Number.NaN : median(figures)
}

function measured(figure: number): number | null {
  return Number.isNaN(figure) ? null : figure
}

function summarise({ uws, node }: Rounds) {
  const medians = (pick: (key: keyof Round) => number[]): Round => ({
    perSecond: medianOf(pick('perSecond')),
    p50Ms: medianOf(pick('p50Ms')),
    p99Ms: medianOf(pick('p99Ms')),
    cpuMs: medianOf(pick('cpuMs')),
    loadShare: medianOf(pick('loadShare')),
  })
  return {
    uws: medians((key) => uws.map((one) => one[key])),
    node: medians((key) => node.map((one) => one[key])),
    ratios: medians((key) => uws.map((one, i) => one[key] / node[i]![key])),
  }
}
