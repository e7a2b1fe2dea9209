/** Reads what a verify costs from a result of `npm run bench -- floor`. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { CodedError } from '../lib/errors.js'
import { type Figures, POSTGRES_MAIN_FACTOR } from './figures.js'

interface Round {
  cpuMs: number
  mainThreadCpuMs: number
}

/** @throws CodedError invalid_bench_result */
export function benchFigures(folder: string): Pick<Figures, 'engineMs' | 'mainMs'> {
  const file = join(folder, 'floor.json')
  const rounds = readRounds(file)
  const mainMs = median(rounds.map(({ mainThreadCpuMs }) => mainThreadCpuMs))
  const allMs = median(rounds.map(({ cpuMs }) => cpuMs))
  if (!(mainMs > 0 && allMs > mainMs))
    throw new CodedError('invalid_bench_result', `${file} has no CPU times; they need Linux.`)
  return { engineMs: allMs - mainMs, mainMs: mainMs * POSTGRES_MAIN_FACTOR }
}

function readRounds(file: string): Round[] {
  try {
    const { details } = JSON.parse(readFileSync(file, 'utf8')) as {
      details: { rounds: { service: Round[] } }
    }
    return details.rounds.service.slice()
  } catch (cause) {
    throw new CodedError(
      'invalid_bench_result',
      `${file} cannot be read as a result of \`npm run bench -- floor --out\`.`,
      { cause },
    )
  }
}

function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN
}
