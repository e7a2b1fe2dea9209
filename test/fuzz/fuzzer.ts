/** Coverage-guided fuzzing: inputs that make code run which never ran before become seeds of further ones. */
import { Random } from '../hostile/random.js'
import type { Coverage } from './coverage.js'
import { mutate } from './mutate.js'

export interface Target {
  name: string
  /** Words of the format, which chance would take long to find. */
  words: readonly string[]
  mostBytes: number
  /** @throws an error that no input may cause; coded refusals are caught inside */
  run(input: Buffer): void
}

export interface Crash {
  input: Buffer
  error: Error
}

export interface FuzzResult {
  inputs: number
  crashes: Crash[]
  /** Inputs that each reached something new. */
  corpus: number
  slowest_ms: number
}

export interface FuzzOptions {
  seeds: readonly Buffer[]
  runs: number
  seed: number
  /** Without it nothing is learnt from what an input reaches. */
  coverage?: Coverage
  progress?: (inputs: number) => void
}

/** Asking V8 costs milliseconds: it is asked once for so many, and for each of them only where there was something new. */
const BATCH = 256
/** Processor time of one input: a reader that takes longer for kilobytes is not linear. */
const MAX_MS = 1000
/** One fault is found again and again. */
const MAX_CRASHES = 10

export function fuzz(
  target: Target,
  { seeds, runs, seed, coverage, progress = () => {} }: FuzzOptions,
): FuzzResult {
  const random = new Random(seed)
  const words = target.words.map((word) => Buffer.from(word, 'latin1'))
  const result: FuzzResult = { inputs: 0, crashes: [], corpus: 0, slowest_ms: 0 }
  const attempt = (input: Buffer) => {
    const before = process.cpuUsage()
    try {
      target.run(input)
    } catch (error) {
      result.crashes.push({ input, error: error as Error })
    }
    const { user, system } = process.cpuUsage(before)
    const tookMs = (user + system) / 1000
    result.slowest_ms = Math.max(result.slowest_ms, tookMs)
    if (tookMs > MAX_MS) result.crashes.push({ input, error: new Error(`took ${tookMs.toFixed(0)} ms`) })
  }
  const reachesNew = (input: Buffer) => {
    attempt(input)
    return coverage?.take({ keeps: true }) ?? false
  }
  for (const input of seeds) reachesNew(input)
  const corpus = [...seeds]
  while (result.inputs < runs && result.crashes.length < MAX_CRASHES) {
    const batch = Array.from({ length: Math.min(BATCH, runs - result.inputs) }, () =>
      mutate(corpus, random, { words, mostBytes: target.mostBytes }),
    )
    for (const input of batch) attempt(input)
    result.inputs += batch.length
    if (coverage?.take({ keeps: false })) corpus.push(...batch.filter(reachesNew))
    progress(result.inputs)
  }
  result.corpus = corpus.length
  return result
}
