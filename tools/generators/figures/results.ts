/** The kept results of the benchmarks, from which the documents get their figures. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { changedShare, measuredCodeOf } from '../../../bench/lib/measured-code.js'
import type { KeptResult } from '../../../bench/lib/report.js'
import { defaultModelPack } from '../../../src/config/default-model-pack.js'
import { packageFile } from '../../../src/lib/package-root.js'
import { standardPackDocument } from '../../pack-builders/standard/pack-document.js'

/** Results by the name of their suite. */
export type Results = Readonly<Record<string, KeptResult>>

/** Suites that nobody can repeat at will, for want of an hour or of cores: their figures are shown with their day. */
const LABORATORY = ['soak', 'cluster']
/**
 * Largest share of the measured lines that may have changed since a result. Fifty ordinary commits changed 9 % of
 * them, a restructuring of the service 58 %.
 */
export const MAX_CHANGED_SHARE = 0.2
export const MEASURE_AGAIN =
  'Measure on a quiet machine with `npm run bench -- all` (some 15 minutes), then `npm run docs`.'

export function readResults(): Results {
  const suites = readdirSync(packageFile('bench', 'results'))
    .filter((name) => name.endsWith('.json') && !name.endsWith('.partial.json'))
    .map((name) => name.replace('.json', ''))
    .filter((suite) => !LABORATORY.includes(suite))
  return Object.fromEntries(suites.map((suite) => [suite, readResult(suite)]))
}

export function readResult(suite: string): KeptResult {
  return JSON.parse(readFileSync(packageFile('bench', 'results', `${suite}.json`), 'utf8'))
}

/** @returns `id@version` of the pack that a new installation serves */
export function defaultPack(): string {
  const emptyDir = mkdtempSync(join(tmpdir(), 'countersign-models-'))
  try {
    const { id, version } = standardPackDocument()
    const { name } = defaultModelPack(emptyDir)
    if (name !== id) throw new Error(`The default pack is ${name}: take its version from its own document.`)
    return `${id}@${version}`
  } finally {
    rmSync(emptyDir, { recursive: true })
  }
}

/** A sentence for each result of another pack than the default one, which every shown figure claims. */
export function resultsOfOtherPacks(results: Results, pack = defaultPack()): string[] {
  return Object.values(results)
    .filter(({ model }) => model !== pack)
    .map(
      ({ suite, model }) =>
        `bench/results/${suite}.json is of ${model}, and the documents claim ${pack}. ${MEASURE_AGAIN}`,
    )
}

/** A sentence for each result of which too much of the measured code has changed since. */
export function outdatedResults(results: Results): string[] {
  const everywhere = measuredCodeOf(['src', 'models', 'native/src'])
  return Object.values(results)
    .map(({ suite, measured_code: then }) => ({
      suite,
      share: changedShare(then, measuredCodeOf(then.rooms), everywhere),
      rooms: then.rooms,
    }))
    .filter(({ share }) => share > MAX_CHANGED_SHARE)
    .map(
      ({ suite, share, rooms }) =>
        `bench/results/${suite}.json is outdated: ${percent(share)} of the lines of ${rooms.join(', ')} have changed since, and at most ${percent(MAX_CHANGED_SHARE)} may. ${MEASURE_AGAIN}`,
    )
}

function percent(share: number): string {
  return `${Math.round(100 * share)} %`
}
