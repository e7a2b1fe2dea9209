/**
 * Before a pack is first served by an accelerator, checks that its graphs give there the scores that its thresholds were measured
 * with. A check that passed is recorded in the data folder.
 */
import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { packFingerprint } from '../../../models/pack/calibration.js'
import { loadModelPack } from '../../../models/pack/model-pack.js'
import type { AgreementReport } from '../../../tools/evaluation/graph-agreement.js'
import { type Config, modelPackDir } from '../../config/config.js'
import { replaceDurably } from '../../lib/durable-file.js'
import { packageFile } from '../../lib/package-root.js'
import { VERSION } from '../../lib/version.js'
import { CommandError } from '../lib/output.js'

const AGREEMENTS_JSON = 'graph-agreements.json'

/** Everything but the machine that decides whether graphs agree: a data folder stays on one machine. */
interface RememberedAgreement {
  pack: string
  provider: string
  /** Version of the service, which pins the runtime of the networks. */
  version: string
}

/**
 * Checks the configured accelerators with which the calibration was not measured. Skips one that does not run on
 * this machine: the engine falls back to the CPU and logs it.
 * @throws CommandError graphs_differ
 */
export async function assertGraphsAgree(config: Config, measure = measureInChildProcess): Promise<void> {
  const accelerators = config.executionProviders.filter((provider) => provider !== 'cpu')
  if (accelerators.length === 0) return
  const pack = await loadModelPack(modelPackDir(config))
  const file = join(config.dataDir, AGREEMENTS_JSON)
  const known = readRemembered(file)
  const entryOf = (provider: string): RememberedAgreement => ({
    pack: packFingerprint(pack.manifest),
    provider,
    version: VERSION,
  })
  const isKnown = (provider: string) =>
    known.some((entry) => JSON.stringify(entry) === JSON.stringify(entryOf(provider)))
  const unknown = accelerators.filter(
    (provider) => pack.calibration?.provider !== provider && !isKnown(provider),
  )
  if (unknown.length === 0) return
  const { graphs, bound } = await measure(config)
  const looked = graphs.filter(({ provider }) => unknown.includes(provider))
  const agreed = looked.filter(({ agrees }) => agrees === true)
  if (agreed.length > 0)
    replaceDurably(
      file,
      `${JSON.stringify([...known, ...agreed.map(({ provider }) => entryOf(provider))], null, 2)}\n`,
    )
  const differing = looked.find(({ agrees }) => agrees === false)
  if (differing)
    throw new CommandError(
      'graphs_differ',
      `${pack.modelId} gives other scores on ${differing.provider} than those that its thresholds were measured with: by ` +
        `${differing.max_score_difference?.toFixed(4) ?? 'an amount that no photo could tell'}, where ${bound.toFixed(4)} is allowed. Take ` +
        `${differing.provider} out of COUNTERSIGN_EXECUTION_PROVIDERS, or calibrate the pack on it: countersign models calibrate.`,
    )
}

function readRemembered(file: string): RememberedAgreement[] {
  if (!existsSync(file)) return []
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as RememberedAgreement[]
  } catch {
    // A failure to save the result costs a few seconds at the next start; it must not fail this one.
    return []
  }
}

/** Runs the check in another process: a driver that crashes takes nothing else with it, and its memory is freed. */
async function measureInChildProcess(config: Config): Promise<AgreementReport> {
  const args = [
    packageFile('dist', 'src', 'cli', 'main.js'),
    'models',
    'verify',
    modelPackDir(config),
    '--agree',
    '--json',
  ]
  const { stdout } = await promisify(execFile)(process.execPath, args, { maxBuffer: 1 << 24 }).catch(
    (failed: { stdout?: string; stderr?: string; message: string }) => {
      // The process exits with 1 for graphs that differ, and prints its result all the same.
      if (failed.stdout) return { stdout: failed.stdout }
      throw new CommandError(
        'graphs_not_compared',
        `The graphs of the model pack cannot be compared on ${config.executionProviders.join(', ')}: ${(failed.stderr || failed.message).trim()}`,
      )
    },
  )
  return (JSON.parse(stdout) as { agreement: AgreementReport }).agreement
}
