/** Runs several nodes over one PostgreSQL under load, with one fault after the other, drawn by a seed. */
import { setTimeout as sleep } from 'node:timers/promises'
import { Random } from '../hostile/random.js'
import { examine } from './examination.js'
import { FAULTS, type Fault, type Scene } from './faults.js'
import { Stage, type StageOptions } from './stage.js'

export interface ChaosOptions extends StageOptions {
  /** Time in which faults begin; the last one is waited for. Without it, each fault strikes once. */
  seconds?: number
  /** Names of the faults to draw from; all when left out. */
  faults?: readonly string[]
  onProgress?: (line: string) => void
  /** Ends the campaign early. Everything acknowledged until then is examined. */
  signal?: AbortSignal
}

export interface ChaosReport {
  nodes: number
  faults: number
  acknowledged: number
  lost: number
  executed_twice: number
  chains_broken: number
  /** Longest time from when the database was reachable again to the first write that a node acknowledged. */
  longest_outage_ms: number
  /** One sentence for each problem that was found. */
  problems: string[]
}

const PAUSE_MS = { least: 300, most: 1500 }

export async function runChaos(options: ChaosOptions): Promise<ChaosReport> {
  const { seconds, seed, onProgress, signal } = options
  const random = new Random(seed)
  const stage = await Stage.set(options)
  try {
    const { database, nodes, journal } = stage
    const scene: Scene = { database, nodes, random }
    const possible = possibleFaults(scene, options)
    const drawn = draw(possible, random)
    const untilMs = performance.now() + (seconds ?? 0) * 1000
    const outages: number[] = []
    let faults = 0
    const isOver = () => (seconds === undefined ? faults === possible.length : performance.now() >= untilMs)
    while (!isOver() && !signal?.aborted) {
      await sleep(PAUSE_MS.least + random.next() * (PAUSE_MS.most - PAUSE_MS.least))
      const fault = drawn.next().value
      const since = await fault.strike(scene)
      faults++
      const took = await Promise.all(
        [...since].map(([node, atMs]) => stage.outageProbe.backAfter(node, atMs)),
      )
      outages.push(...took)
      onProgress?.(
        `${fault.name}: ${took.map(Math.round).join(', ')} ms; ${journal.acknowledged} acknowledged`,
      )
      await database.inStep()
    }
    await stage.quieten()
    journal.broken.push(...(await stage.epochs.examine()))
    await examine(stage.core, stage.examiner, stage.tenants)
    onProgress?.(`epochs: ${stage.epochs.ended}`)
    onProgress?.(`refused: ${JSON.stringify(journal.refused)}; without an answer: ${journal.unanswered}`)
    return {
      nodes: nodes.length,
      faults,
      acknowledged: journal.acknowledged,
      lost: journal.lost.length,
      executed_twice: journal.executedTwice.length,
      chains_broken: journal.brokenChains.length,
      longest_outage_ms: Math.round(Math.max(0, ...outages)),
      problems: journal.problems,
    }
  } finally {
    await stage.clear()
  }
}

function possibleFaults(scene: Scene, { faults, onProgress }: ChaosOptions): Fault[] {
  const wanted = FAULTS.filter(({ name }) => !faults || faults.includes(name))
  const possible = wanted.filter(({ name, obstacle }) => {
    const why = obstacle?.(scene) ?? null
    if (why) onProgress?.(`left out: ${name}, because ${why}`)
    return why === null
  })
  if (possible.length === 0) throw new TypeError('there is no fault to draw')
  return possible
}

/** Draws faults in random order, each once before any is repeated. */
function* draw(possible: readonly Fault[], random: Random): Generator<Fault, never> {
  for (;;) {
    const bag = [...possible]
    while (bag.length > 0) yield bag.splice(random.below(bag.length), 1)[0]!
  }
}
