/** The figures of speed and memory that documents show, by name, from the results of the benchmarks. */
import { isQuiet, type KeptResult } from '../../../bench/lib/report.js'
import { markdownTable } from '../../../src/lib/markdown-table.js'
import type { Results } from './results.js'

/** Suites that the table of speed is made of. */
const SPEED_SUITES = ['latency', 'floor', 'scaling']
const CALLS = ['enroll', 'verify', 'delete', 'health'] as const
const LOADS = ['25', '50', '75', '90'] as const

export function speedFigures(results: Results): Record<string, string> {
  const at = (suite: string, path: string) => valueAt(results, suite, path)
  const cores = results.floor!.machine.cores
  const perSecond = at('floor', 'summary.service_per_s')!
  const mainThreadMs = at('floor', 'summary.main_thread_ms')!
  const ofSize = (size: string) => at('scaling', `summary.size_p50_ms.${size}`)!
  const crowd = (times: number, name: string) => {
    const crowds = results.scaling!.details.crowds as Array<Record<string, number | null>>
    return crowds.find((one) => one.times === times)![name]!
  }
  const networks = ['detect', 'landmarks', 'embed'].map(
    (stage) => at('stages', `summary.engine_p50_ms.${stage}`)!,
  )
  const inline: Record<string, string> = {
    ...Object.fromEntries(
      CALLS.flatMap((call) =>
        ['p50', 'p95', 'p99'].map((share) => [
          `${call}-${share}`,
          ms(at('latency', `summary.${call}.${share}_ms`)),
        ]),
      ),
    ),
    ...Object.fromEntries(
      LOADS.flatMap((load) =>
        ['p50', 'p99'].map((share) => [
          `verify-${share}-at-${load}`,
          ms(at('latency', `summary.by_load.at_${load}_percent.${share}_ms`)),
        ]),
      ),
    ),
    'verifies-per-s': perSecond.toFixed(0),
    'verifies-per-s-of-a-core': (perSecond / cores).toFixed(0),
    'bare-loop-per-s': at('floor', 'summary.floor_per_s')!.toFixed(0),
    'bare-loop-share': percent(at('floor', 'summary.ratio')!),
    'batching-loop-per-s': at('floor', 'summary.batched_floor_per_s')!.toFixed(0),
    'batching-loop-share': percent(at('floor', 'summary.batched_ratio')!),
    'one-caller-p50': ms(at('floor', 'summary.service_p50_ms')),
    'bare-kernels-p50': ms(at('floor', 'summary.floor_p50_ms')),
    'verify-cpu': ms(at('floor', 'summary.service_cpu_ms')),
    'main-thread': ms(mainThreadMs),
    'main-thread-per-s': (Math.floor(100 / mainThreadMs) * 10).toFixed(0),
    'main-thread-cores': (1000 / mainThreadMs / (perSecond / cores)).toFixed(0),
    'start-up': `${(at('scaling', 'summary.start_up_ms')! / 1000).toFixed(1)} s`,
    memory: `${at('scaling', 'summary.least_resident_mib')!.toFixed(0)} to ${at('scaling', 'summary.most_resident_mib')!.toFixed(0)} MiB`,
    'photo-2-mp-more': ms(ofSize('2_mp') - ofSize('vga')),
    'photo-12-mp-more': ms(ofSize('12_mp') - ofSize('vga')),
    'photo-12-mp': ms(ofSize('12_mp')),
    'references-1000-p50': ms(at('scaling', 'summary.references_p50_ms.1000')),
    'references-100000-p50': ms(at('scaling', 'summary.references_p50_ms.100000')),
    'overload-kept': percent(crowd(20, 'perSecond') / crowd(1, 'perSecond')),
    'overload-refusal': ms(crowd(20, 'refusalP50Ms')),
    'overload-event-loop': ms(Math.max(...[1, 4, 20].map((times) => crowd(times, 'eventLoopDelayP99Ms')))),
    'overload-memory': `${crowd(20, 'residentMib').toFixed(0)} MiB`,
    'challenge-p50': ms(at('challenge', 'summary.p50_ms')),
    'challenge-bare-kernels': ms(at('challenge', 'summary.floor_one_thread_p50_ms')),
    'challenge-as-verifies': (
      at('challenge', 'summary.floor_one_thread_p50_ms')! / at('floor', 'summary.floor_p50_ms')!
    ).toFixed(0),
    'verify-alone': ms(at('challenge', 'summary.verify_alone_p50_ms')),
    'verify-beside-1-challenge': ms(at('challenge', 'summary.verify_beside_1_p50_ms')),
    'verify-beside-4-challenges': ms(at('challenge', 'summary.verify_beside_4_p50_ms')),
    'engine-p50': ms(at('stages', 'summary.engine_p50_ms.all of them')),
    'engine-networks': `${ms(networks.reduce((sum, one) => sum + one, 0))} of ${ms(at('stages', 'summary.engine_p50_ms.all of them'))}`,
    'replay-check-64': ms(at('stages', 'summary.main_thread_p50_ms.replay check')),
    'timeline-whole': ms(at('timeline', 'summary.whole_ms')),
    'timeline-computing': ms(at('timeline', 'summary.computing_ms')),
    'http-health-ratio': at('http', 'summary.health_1.per_s_ratio')!.toFixed(2),
    'http-health-32-ratio': at('http', 'summary.health_32.per_s_ratio')!.toFixed(2),
    'http-verify-ratio': at('http', 'summary.verify_4.per_s_ratio')!.toFixed(2),
    'help-over-empty': at('cli', 'summary.help_over_empty_cpu')!.toFixed(1),
  }
  return { ...inline, ...tables(results, inline) }
}

function tables(results: Results, inline: Record<string, string>): Record<string, string> {
  const of = (name: string) => inline[name]!
  const percentiles = (call: string) => `${of(`${call}-p50`)} / ${of(`${call}-p95`)}`
  return {
    speed: markdownTable(
      ['One machine, 640×480 JPEG', 'Measured'],
      [
        ['Verify, one caller, p50 / p95', percentiles('verify')],
        ['Verifications a second, all workers busy', of('verifies-per-s')],
        ['Start of the process until it serves', of('start-up')],
        ['Memory of service and engine', of('memory')],
      ],
    ),
    sizing: markdownTable(
      ['', `${results.floor!.machine.cores} cores, as many workers`],
      [
        ['verifications a second, all workers busy', of('verifies-per-s')],
        ['CPU time of a verification, all threads', of('verify-cpu')],
        ['of it on the main thread', of('main-thread')],
        ['verify p50 / p99, one caller', `${of('verify-p50')} / ${of('verify-p99')}`],
        ['memory of service and engine', of('memory')],
      ],
    ),
    latency: markdownTable(
      ['One caller', 'p50', 'p95', 'p99', 'specified median'],
      CALLS.map((call) => [call, of(`${call}-p50`), of(`${call}-p95`), of(`${call}-p99`), SPECIFIED[call]]),
    ),
    load: markdownTable(
      ['Arrivals at random, of capacity', 'verify p50', 'verify p99'],
      LOADS.map((load) => [`${load} %`, of(`verify-p50-at-${load}`), of(`verify-p99-at-${load}`)]),
    ),
    sizes: markdownTable(
      ['Photo', 'verify p50', 'memory'],
      (results.scaling!.details.sizes as Array<{ label: string; p50Ms: number; residentMib: number }>).map(
        ({ label, p50Ms, residentMib }) => [label, ms(p50Ms), `${residentMib.toFixed(0)} MiB`],
      ),
    ),
    peers: peersTable(results),
    conditions: conditions(results, SPEED_SUITES),
    'peers-conditions': conditions(results, ['peers']),
    'all-conditions': conditionsOfAll(results),
  }
}

/** A line for each moment, commit and load, with the suites that were measured then. */
function conditionsOfAll(results: Results): string {
  const suitesByConditions = new Map<string, string[]>()
  for (const result of Object.values(results)) {
    const conditions = `${dayOf(result.measured_at)}, commit ${commitOf(results, result.suite)}, other programs ${othersOf(result)}`
    const link = `[${result.suite}](../bench/results/${result.suite}.md)`
    suitesByConditions.set(conditions, [...(suitesByConditions.get(conditions) ?? []), link])
  }
  return [...suitesByConditions]
    .map(([conditions, links]) => `- ${links.join(', ')}: ${conditions}`)
    .join('\n')
}

/** Medians of the interface specification. */
const SPECIFIED: Record<(typeof CALLS)[number], string> = {
  enroll: '310 ms',
  verify: '292 ms',
  delete: '40 ms',
  health: '5 ms',
}

const PEERS: Record<string, string> = {
  countersign: 'Countersign, the engine',
  countersign_service: 'Countersign, the service over HTTP',
  express: 'Express and onnxruntime-node, the same networks',
  face_api: '@vladmandic/face-api, WebAssembly',
  human: '@vladmandic/human, WebAssembly',
  countersign_same_networks: "Countersign, the engine, with OpenCV's networks",
  opencv: 'OpenCV dnn, YuNet and MobileFaceNet',
}

interface PeerFigures {
  per_s?: number
  single_p50_ms?: number
  'fnmr_at_fmr_1e-3'?: number | null
}

function peersTable(results: Results): string {
  const rows = Object.entries(results.peers!.summary as Record<string, PeerFigures>).filter(
    ([, { per_s }]) => per_s !== undefined,
  )
  return markdownTable(
    ['On the same photos, in turns', 'verifications a second', 'one at a time, p50', 'FNMR at FMR 1e-3'],
    rows.map(([key, { per_s, single_p50_ms, 'fnmr_at_fmr_1e-3': fnmr }]) => [
      PEERS[key] ?? key,
      per_s!.toFixed(1),
      ms(single_p50_ms),
      typeof fnmr === 'number' ? `${(100 * fnmr).toFixed(1)} %` : '–',
    ]),
  )
}

/** Machine, load, pack and command of results, in plain sentences. */
function conditions(results: Results, suites: readonly string[]): string {
  const shown = suites.map((suite) => results[suite]!)
  const { machine, model } = shown[0]!
  const { cpu, cores, memory_gib, node } = machine
  const days = [...new Set(shown.map(({ measured_at }) => dayOf(measured_at)))].join(' and ')
  const commits = [...new Set(suites.map((suite) => commitOf(results, suite)))].join(', ')
  const commands = [...new Set(shown.map((one) => one.command))]
  return [
    `Pack \`${model}\`, ${cores} cores (${cpu.replaceAll('(R)', '')}), ${memory_gib} GiB, Node ${node.replace('v', '')}, ${days}, commit ${commits}.`,
    `Client and service share the cores. ${loadOfAll(shown)}`,
    `Measured by ${commands.map((each) => `\`${each}\``).join(' and ')}; \`npm run bench\` measures your machine.`,
  ].join('\n')
}

/** Says how busy the machine was during several suites, in whole sentences. */
function loadOfAll(results: readonly KeptResult[]): string {
  const machines = results.map(({ machine }) => machine)
  const before = Math.max(...machines.map((one) => one.load_average_at_start))
  const after = Math.max(...machines.map((one) => one.load_average_at_end))
  const others = machines.map((one) => one.other_programs_cores)
  const most = others.includes(null) ? null : Math.max(...others.map(Number))
  const used = most === null ? 'an unknown number of' : `at most ${most.toFixed(2)}`
  return [
    `The load average was ${before.toFixed(1)} before and ${after.toFixed(1)} after; other programs used ${used} cores meanwhile.`,
    ...(results.every(isQuiet) ? [] : ['**Provisional: the machine was not quiet.**']),
  ].join(' ')
}

/** Cores that other programs used while a suite ran. */
function othersOf(result: KeptResult): string {
  const { other_programs_cores: cores } = result.machine
  const shown = cores === null ? 'unknown' : `${cores.toFixed(2)} cores`
  return isQuiet(result) ? shown : `${shown}, provisional`
}

function dayOf(time: string): string {
  return time.slice(0, 10)
}

function commitOf(results: Results, suite: string): string {
  const { git } = results[suite]!
  return git ? `${git.commit.slice(0, 8)}${git.modified ? ' with changes' : ''}` : 'unknown'
}

/** @returns null where too few samples were taken @throws Error where the result has no such figure */
function valueAt(results: Results, suite: string, path: string): number | null {
  let value: unknown = results[suite]
  for (const key of path.split('.')) value = (value as Record<string, unknown> | undefined)?.[key]
  if (value !== null && typeof value !== 'number') throw new Error(`The result of ${suite} has no ${path}.`)
  return value
}

/** Has three digits at most, and a dash where there is no figure. */
function ms(value: number | null | undefined): string {
  if (value === null || value === undefined) return '–'
  return `${value.toFixed(value >= 100 ? 0 : value >= 1 ? 1 : 2)} ms`
}

function percent(share: number): string {
  return `${Math.round(100 * share)} %`
}
