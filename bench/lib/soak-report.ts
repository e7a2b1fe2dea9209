/** Report of a soak: a row for each minute, and plots over time. */
import type { LinePlot } from './line-plots.js'
import type { Sample } from './soak-growth.js'
import { CALLS, type SoakCall, type Window } from './soak-load.js'
import { carriedPercentile, median, round, shown } from './statistics.js'

export interface Minute extends Sample {
  window: Window
  loadAverage: number
}

export function minuteRows(byMinute: readonly Minute[]): string[][] {
  const p = (samples: number[], share: number) => shown(carriedPercentile(samples, share), 0)
  return [
    [
      'minute',
      'service, MiB',
      'heap, MiB',
      'engine, MiB',
      'descriptors',
      'sockets',
      'threads',
      'verify p50, ms',
      'p95, ms',
      'health p95, ms',
      'enroll p95, ms',
      'erase p95, ms',
      'refused',
      'database, MiB',
      'log, MiB',
      'load',
    ],
    ...byMinute.map(({ minute, service, engine, heapUsedMib, window, loadAverage, ...store }) => {
      const { approve, reject, health, enroll, erase } = window.latenciesMs
      return [
        minute.toFixed(1),
        service.anonymousMib.toFixed(0),
        heapUsedMib.toFixed(0),
        engine?.anonymousMib.toFixed(0) ?? '–',
        `${service.descriptors} + ${engine?.descriptors ?? 0}`,
        `${service.sockets} + ${engine?.sockets ?? 0}`,
        `${service.threads} + ${engine?.threads ?? 0}`,
        p([...approve, ...reject], 0.5),
        p([...approve, ...reject], 0.95),
        p(health, 0.95),
        p(enroll, 0.95),
        p(erase, 0.95),
        String(Object.values(window.refusals).reduce((sum, count) => sum + count, 0)),
        store.databaseMib.toFixed(1),
        store.writeAheadLogMib.toFixed(1),
        loadAverage.toFixed(1),
      ]
    }),
  ]
}

/** Latencies as percentiles: single latencies would make the file large. */
export function withoutSamples({ window, minute, loadAverage }: Minute) {
  const latencies = CALLS.filter((call) => window.latenciesMs[call].length > 0).map((call) => {
    const samples = window.latenciesMs[call]
    const p95Ms = carriedPercentile(samples, 0.95)
    return [
      call,
      {
        count: samples.length,
        p50_ms: round(median(samples), 2),
        p95_ms: p95Ms === null ? null : round(p95Ms, 2),
      },
    ] as const
  })
  return { minute, loadAverage, refusals: window.refusals, latencies: Object.fromEntries(latencies) }
}

export function plotsOf(samples: readonly Sample[], byMinute: readonly Minute[]): LinePlot[] {
  const series = (name: string, value: (sample: Sample) => number | null) =>
    samples.map((sample) => ({ minute: sample.minute, series: name, value: value(sample) }))
  const latency = (call: SoakCall) =>
    byMinute.map(({ minute, window }) => {
      const times = window.latenciesMs[call]
      return { minute, series: call, value: carriedPercentile(times, 0.95) }
    })
  return [
    {
      title: 'Memory',
      unit: 'MiB',
      points: [
        ...series('service', ({ service }) => service.anonymousMib),
        ...series('of it V8’s heap', ({ heapUsedMib }) => heapUsedMib),
        ...series('engine', ({ engine }) => engine?.anonymousMib ?? null),
      ],
    },
    {
      title: '95th percentile of latency',
      unit: 'ms',
      isLogarithmic: true,
      points: (['approve', 'enroll', 'erase', 'health'] as const).flatMap(latency),
    },
    {
      title: 'Descriptors',
      unit: 'number',
      points: [
        ...series('service', ({ service }) => service.descriptors),
        ...series('engine', ({ engine }) => engine?.descriptors ?? null),
        ...series('sockets of the service', ({ service }) => service.sockets),
        ...series('threads of the engine', ({ engine }) => engine?.threads ?? null),
      ],
    },
    {
      title: 'Database',
      unit: 'MiB',
      points: [
        ...series('database', ({ databaseMib }) => databaseMib),
        ...series('write-ahead log', ({ writeAheadLogMib }) => writeAheadLogMib),
      ],
    },
  ]
}
