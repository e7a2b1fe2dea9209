/** Checks of `doctor` on the machine and on what is installed. */

import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { hasByteDotProducts } from '../../../models/pack/cpu-features.js'
import { nativeKernels } from '../../biometrics/kernels/kernels.js'
import { acceleratorsOf, STAND_IN_PROVIDER } from '../../biometrics/pipeline/networks/accelerators.js'
import type { Config } from '../../config/config.js'
import { defaultWorkers, machineLimits } from '../../config/worker-limits.js'
import { chooseTransport, uwsObstacleIn } from '../../http/listeners/transport.js'
import { docPath } from '../../lib/doc-path.js'
import { packageFile } from '../../lib/package-root.js'
import { OLDEST_NODE } from '../../lib/version.js'
import { type Finding, findingsOf } from '../lib/finding.js'
import {
  type AddonRecord,
  addonDifferences,
  installedAddon,
  OWN_BINARY,
  recordedAddon,
} from './http-addon.js'
import { tryProviders } from './provider-trial.js'

/** The archive of a release is whole as it is unpacked, and has no npm. */
const isArchive = existsSync(packageFile('release.json'))
const UNPACK_AGAIN =
  'unpack the archive for this machine and this major version of Node again, into an empty folder'

/** A clock before this date is wrong: JWTs and signatures would be refused. */
const EARLIEST_PLAUSIBLE = Date.parse('2026-01-01T00:00:00Z')

export function checkNode(): Finding {
  const [major, minor] = process.versions.node.split('.').map(Number) as [number, number]
  const [oldestMajor, oldestMinor] = OLDEST_NODE.split('.').map(Number) as [number, number]
  const { ok, problem } = findingsOf('Node.js')
  const isKnown = major > oldestMajor || (major === oldestMajor && minor >= oldestMinor)
  return isKnown ? ok(process.version) : problem(process.version, `use Node ${OLDEST_NODE} or later`)
}

/** @param failure error message of the addon, or null where it loads */
export function checkAddon(check: string, failure: string | null): Finding {
  const { ok, problem } = findingsOf(check)
  if (failure === null) return ok('loads')
  const remedy = 'run npm ci && npm run install with this Node; it needs g++, make and python3'
  return problem(failure.trim().split('\n')[0]!, isArchive ? UNPACK_AGAIN : remedy)
}

/** Names the HTTP server that would serve. The binary of uWebSockets.js is checked only where that one serves. */
export async function checkHttp(config: Config, addonFailure: string | null): Promise<Finding[]> {
  const { ok, warning, problem } = findingsOf('HTTP server')
  if (addonFailure !== null && config.http === 'auto')
    return [
      warning(
        `node:http of ${process.version} (uWebSockets.js does not load: ${uwsObstacleIn(addonFailure)})`,
        `see ${docPath('reverse-proxies.md#which-http-server-serves')}`,
      ),
    ]
  try {
    const { name, description } = await chooseTransport(config.http)
    return name === 'uws' ? [ok(description), checkHttpAddon()] : [ok(description)]
  } catch (error) {
    const remedy = 'set COUNTERSIGN_HTTP to auto, or install a release for this Node'
    return [problem((error as Error).message, remedy)]
  }
}

/** npm checks a package's sum when it installs it. This package came through a repacker, and its files may have been changed since. */
function checkHttpAddon(): Finding {
  const { ok, warning, problem } = findingsOf('HTTP addon')
  const remedy = isArchive
    ? UNPACK_AGAIN
    : 'remove node_modules and run npm ci; after a change of release on purpose: npm run supply-chain -- --record'
  try {
    const recorded = ownBinary(recordedAddon())
    const installed = ownBinary(installedAddon(undefined, (name) => name === OWN_BINARY))
    if (installed.package !== recorded.package || installed.version !== recorded.version)
      return warning(
        `${installed.package} ${installed.version} is installed instead of ${recorded.package} ${recorded.version}`,
        `its binary has no recorded checksum: compare SHA-256 ${installed.sha256[OWN_BINARY]} with its publisher's`,
      )
    const differences = addonDifferences(recorded, installed)
    if (differences.length > 0) return problem(differences.join(', '), remedy)
    return ok(`${OWN_BINARY} of ${recorded.package} ${recorded.version}`)
  } catch (error) {
    return problem((error as Error).message, remedy)
  }
}

/** An image may leave out the binaries of other platforms. */
function ownBinary(addon: AddonRecord): AddonRecord {
  return { ...addon, sha256: { [OWN_BINARY]: addon.sha256[OWN_BINARY] ?? 'none' } }
}

export function checkKernels(): Finding {
  const { ok, warning } = findingsOf('native kernels')
  if (nativeKernels.kernels) return ok('built')
  return warning(
    `not built (${nativeKernels.reason})`,
    'the TypeScript versions are used instead, about 2 ms slower for each image; to compile the kernels (g++, make): npm run install',
  )
}

/** Reported only for packs that have quantized networks: without the instructions they are slower. */
export function checkByteNetworks(): Finding {
  return findingsOf('networks in 8 bits').ok(
    hasByteDotProducts
      ? 'the processor multiplies bytes'
      : 'not on this processor, which lacks VNNI or dot products of bytes: float32 is used instead, about 7 ms slower',
  )
}

export async function checkProviders(config: Config): Promise<Finding[]> {
  const { listSupportedBackends } = createRequire(import.meta.url)('onnxruntime-node') as {
    listSupportedBackends(): Array<{ name: string }>
  }
  const known = listSupportedBackends().map(({ name }) => name)
  const accelerators = acceleratorsOf(config.executionProviders)
  const failures = await tryProviders(accelerators.filter((provider) => known.includes(provider)))
  const isUsable = (provider: string) =>
    provider === STAND_IN_PROVIDER || (known.includes(provider) && !failures.has(provider))
  const serving = accelerators.find(isUsable) ?? 'cpu'
  return [...accelerators, 'cpu'].map((provider): Finding => {
    const { ok, warning } = findingsOf(`provider ${provider}`)
    if (isUsable(provider)) return ok(provider === serving ? 'loads, and would serve' : 'loads')
    const detail = known.includes(provider)
      ? failures.get(provider)!
      : `not part of this ONNX Runtime, which has ${known.join(', ')}`
    return warning(detail, `the engine uses ${serving} instead; see ${docPath('guides/gpu.md')}`)
  })
}

export function checkClock(): Finding {
  const { ok, problem } = findingsOf('clock')
  const now = new Date()
  return now.getTime() < EARLIEST_PLAUSIBLE
    ? problem(now.toISOString(), 'set the clock; run an NTP client')
    : ok(now.toISOString())
}

/** @param limits those of this machine; a test gives others */
export function checkTopology(config: Config, limits = machineLimits()): Finding {
  const { workers, limit } = defaultWorkers(config, limits)
  const detail = `${config.workers} workers by ${config.workersLimit}, on ${limits.cores} cores, one inference thread each`
  const { ok, warning } = findingsOf('topology')
  if (config.workers <= workers) return ok(detail)
  return warning(
    detail,
    `set COUNTERSIGN_WORKERS to at most ${workers}, by ${limit}: more workers wait for each other, run out of memory or cannot start`,
  )
}
