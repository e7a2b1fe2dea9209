/** The size suite: the model behind `countersign size` against a simulation, and against the committed runs. */
import { existsSync, readFileSync } from 'node:fs'
import { progressSteps } from '../src/cli/progress.js'
import { packageFile } from '../src/lib/package-root.js'
import { ACCURACY } from '../src/sizing/accuracy.js'
import {
  type CapacityComparison,
  type Comparison,
  compareCapacity,
  compareWithClusterRuns,
  compareWithRun,
  compareWithSimulation,
  errorOf,
  largestError,
  type MeasuredRun,
} from './lib/size-comparison.js'
import { median, round } from './lib/statistics.js'
import type { Suite } from './suite.js'

const RESULTS = packageFile('bench', 'results')

export const size: Suite = {
  name: 'size',
  description: 'the model behind `countersign size` against a simulation and the committed runs',
  defaultSeconds: 20,
  async run({ pack, seconds }) {
    const progress = progressSteps('size')
    progress.update(0, 3, 'simulation')
    const simulated = compareWithSimulation()
    progress.update(1, 3, 'capacity')
    const capacities = compareCapacity()
    progress.update(2, 3, 'runs')
    const run = compareWithRun(measuredRun())
    const clusters = compareWithClusterRuns()
    progress.stop()
    const p99Errors = (all: Comparison[]) =>
      largestError(all.map(({ found, predicted }) => errorOf(found.p99Ms, predicted.p99Ms)))
    const capacityErrors = (all: CapacityComparison[]) =>
      largestError(all.map(({ found, predicted }) => errorOf(found, predicted)))
    const errors = {
      simulation: { p99: p99Errors(simulated), capacity: capacityErrors(capacities) },
      runs: { p99: p99Errors(run.latencies), capacity: capacityErrors([run.capacity, ...clusters]) },
    }
    const told = (error: number) => `${(error * 100).toFixed(0)} %`
    return {
      suite: 'size',
      model: pack.modelId,
      seconds,
      summary: {
        simulation_p99_error: round(errors.simulation.p99, 3),
        simulation_capacity_error: round(errors.simulation.capacity, 3),
        runs_p99_error: round(errors.runs.p99, 3),
        runs_capacity_error: round(errors.runs.capacity, 3),
      },
      tables: [
        {
          title: 'Latency, milliseconds',
          rows: [
            ['', 'of capacity', 'per s', 'p50', 'model', 'p99', 'model', 'error'],
            ...[...simulated, ...run.latencies].map(({ name, share, perSecond, found, predicted }) => [
              ...[
                name,
                told(share),
                perSecond.toFixed(0),
                found.p50Ms.toFixed(1),
                predicted.p50Ms.toFixed(1),
              ],
              ...[found.p99Ms.toFixed(1), predicted.p99Ms.toFixed(1)],
              told(errorOf(found.p99Ms, predicted.p99Ms)),
            ]),
          ],
        },
        {
          title: 'Capacity, verifies a second',
          rows: [
            ['', 'found', 'model', 'error'],
            ...[...capacities, run.capacity, ...clusters].map(({ name, found, predicted }) => [
              ...[name, found.toFixed(0), predicted.toFixed(0), told(errorOf(found, predicted))],
            ]),
          ],
        },
        {
          title: 'The runs of several nodes beside the simulation, verifies a second',
          rows: [
            ['', 'measured', 'simulated', 'error'],
            ...clusters.map(({ name, found, simulated }) => [
              ...[name, found.toFixed(0), simulated.toFixed(0), told(errorOf(found, simulated))],
            ]),
          ],
        },
      ],
      notes: [
        'The simulation is of a cluster as the product is built, event by event, with a seed; it shares no formula with the model. Verifies arrive as a Poisson process. In the rows without another word a thousand tenants have like shares.',
        'The measured run is that of the latency and floor suites in bench/results: its client shared the cores, and each of its rates lasted eight seconds.',
        'The runs of one to four nodes are those of the cluster suite on sixteen cores (docs/benchmarks.md), with 48 callers a node who come back as soon as they are answered. The model knows no callers: it says what can be carried of what comes at random. The simulation of these runs has the callers.',
      ],
      details: { simulated, capacities, run, clusters },
      failures: (['simulation', 'runs'] as const).flatMap((of) =>
        (['p99', 'capacity'] as const).flatMap((what) =>
          errors[of][what] <= ACCURACY[of][what]
            ? []
            : [
                `${what} is off by ${told(errors[of][what])} of the ${of}; ${told(ACCURACY[of][what])} is stated`,
              ],
        ),
      ),
    }
  },
}

/** As it stands in bench/results. @throws Error where a suite's result is not there */
export function measuredRun(): MeasuredRun {
  const details = (suite: string) => {
    const file = `${RESULTS}/${suite}.json`
    if (!existsSync(file)) throw new Error(`${file} is not there`)
    return JSON.parse(readFileSync(file, 'utf8')).details
  }
  const { service } = details('floor').rounds as {
    service: Array<{ cpuMs: number; mainThreadCpuMs: number }>
  }
  const { open_loop, workers } = details('latency')
  const commit = details('stages').main_thread.find(({ stage }: { stage: string }) => stage === 'commit')
  const mainMs = median(service.map(({ mainThreadCpuMs }) => mainThreadCpuMs))
  return {
    cores: workers,
    engineMs: median(service.map(({ cpuMs }) => cpuMs)) - mainMs,
    mainMs,
    commitMs: commit.mean_ms,
    capacity: open_loop.capacity,
    // A short run does not carry every percentile.
    rates: open_loop.rates.filter(({ p99_ms }: { p99_ms: number | null }) => p99_ms !== null),
  }
}
