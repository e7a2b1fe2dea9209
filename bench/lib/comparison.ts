/** Compares a result with an earlier one, figure by figure, and lists other differences of the two runs. */
import { readFileSync } from 'node:fs'
import type { KeptResult, ResultTable } from './report.js'

/** @throws Error if the file is not the result of a suite */
export function readResult(file: string): KeptResult {
  let kept: Partial<KeptResult>
  try {
    kept = JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    throw new Error(`${file} cannot be read: ${(error as Error).message}`)
  }
  if (typeof kept.suite !== 'string' || typeof kept.summary !== 'object' || kept.summary === null)
    throw new Error(`${file} is no result of a suite: give the .json that a run with --out wrote.`)
  return kept as KeptResult
}

export interface Comparison {
  table: ResultTable
  /** Differences of the runs, other than the code, that may explain different figures. */
  notes: string[]
}

export function compare(before: KeptResult, now: KeptResult): Comparison {
  const [earlier, later] = [figures(before.summary), figures(now.summary)]
  const rows = [...later].map(([name, value]) => {
    const was = earlier.get(name)
    const show = (figure: number | undefined) => (figure === undefined ? '–' : String(figure))
    const ratio = was ? (value / was).toFixed(3) : '–'
    return [name, show(was), show(value), ratio]
  })
  const differs = (what: string, a: unknown, b: unknown) =>
    JSON.stringify(a) === JSON.stringify(b) ? [] : [`Compared runs differ in ${what}: ${a} then, ${b} now.`]
  return {
    table: {
      title: `Compared with ${before.measured_at}`,
      rows: [['', 'then', 'now', 'now / then'], ...rows],
    },
    notes: [
      ...differs('model', before.model, now.model),
      ...differs('measuring time', before.seconds, now.seconds),
      ...differs('processor', before.machine.cpu, now.machine.cpu),
      ...differs('cores', before.machine.cores, now.machine.cores),
      ...differs('Node', before.machine.node, now.machine.node),
    ],
  }
}

/** Returns the numbers of a summary by their path. */
function figures(value: unknown, path = ''): Map<string, number> {
  if (typeof value === 'number') return new Map([[path, value]])
  if (typeof value !== 'object' || value === null) return new Map()
  return new Map(
    Object.entries(value).flatMap(([name, inner]) => [...figures(inner, path ? `${path}.${name}` : name)]),
  )
}
