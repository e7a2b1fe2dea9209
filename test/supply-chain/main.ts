/**
 * `npm run supply-chain`: compares what is installed with what is on record. Prints a line for each check on stderr and the result
 * as the last line of stdout. Exit code 1 when something is wrong, 2 when something could not be checked.
 */
import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { addonDifferences, installedAddon, recordedAddon } from '../../src/cli/doctor/http-addon.js'
import { packageFile } from '../../src/lib/package-root.js'
import { audit } from './audit.js'
import { lockedPackages, lockfileIssues, manifest } from './lockfile.js'
import { binaryOfPlatform, compareWithUpstream } from './upstream.js'

type Outcome = 'ok' | 'wrong' | 'not asked'

const { values } = parseArgs({ options: { upstream: { type: 'boolean' }, record: { type: 'boolean' } } })
const installed = installedAddon()
const release = `${installed.package} ${installed.version}`
const outcomes: Record<string, Outcome> = {}

function tell(check: string, outcome: Outcome, text: string): void {
  outcomes[check] = outcome
  console.error(`${check.padEnd(9)} ${outcome.padEnd(9)} ${text}`)
}

function checkAddon(): void {
  if (values.record)
    writeFileSync(packageFile('native', 'uwebsockets.json'), `${JSON.stringify(installed, null, 2)}\n`)
  const differences = addonDifferences(recordedAddon(), installed)
  if (differences.length > 0) tell('addon', 'wrong', differences.join('; '))
  else
    tell('addon', 'ok', `${Object.keys(installed.sha256).length} binaries of ${release} are those on record`)
}

function checkLockfile(): void {
  const packages = lockedPackages()
  const issues = lockfileIssues(manifest(), packages)
  if (issues.length > 0) tell('lockfile', 'wrong', issues.join('; '))
  else tell('lockfile', 'ok', `${packages.size} packages, each held to its SHA-512 or commit`)
}

async function checkAudit(): Promise<void> {
  const result = await audit()
  if (!result.answered) tell('audit', 'not asked', `the registry could not be asked: ${result.reason}`)
  else if (result.severe.length > 0) tell('audit', 'wrong', result.severe.join('; '))
  else tell('audit', 'ok', `nothing high or critical; ${JSON.stringify(result.counts)}`)
}

async function checkUpstream(): Promise<void> {
  const mine = binaryOfPlatform(installed)
  const result = await compareWithUpstream(installed, mine)
  if (result.kind === 'not_asked')
    tell('upstream', 'not asked', `GitHub could not be asked: ${result.reason}`)
  else if (result.kind === 'same')
    tell('upstream', 'ok', `${result.files} binaries are those of ${result.tag}`)
  else if (result.tag) tell('upstream', 'wrong', `not those of ${result.tag}: ${result.files.join(', ')}`)
  else tell('upstream', 'wrong', `no release of upstream has ${mine} of ${release}`)
}

checkAddon()
checkLockfile()
await checkAudit()
if (values.upstream) await checkUpstream()
console.log(JSON.stringify(outcomes))
const found = new Set(Object.values(outcomes))
process.exitCode = found.has('wrong') ? 1 : found.has('not asked') ? 2 : 0
