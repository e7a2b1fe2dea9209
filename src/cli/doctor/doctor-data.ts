/** Checks of `doctor` on model pack and database. */

import {
  loadModelPack,
  type ModelPack,
  ModelPackError,
  thresholdForFmr,
  verifyModelPack,
} from '../../../models/pack/model-pack.js'
import { CONSEQUENCE, gradeOf, isProductionGrade, summarizeGrade } from '../../../models/pack/pack-grade.js'
import { findCataloguePack } from '../../../tools/pack-builders/catalogue/catalogue.js'
import type { Core } from '../../admin/core.js'
import { databaseOf } from '../../app/database.js'
import { differingSettings } from '../../cluster/membership.js'
import { type Config, followingPackDirs, isPostgres, modelPackDir, sqliteFile } from '../../config/config.js'
import { FEATURES } from '../../features/index.js'
import { auditVerificationStatus, describeVerification } from '../../jobs/audit-verification.js'
import { docPath } from '../../lib/doc-path.js'
import { foreignReferences } from '../../users/foreign-references.js'
import { DECIDE_ON_GRADE } from '../config/open-settings.js'
import { type Finding, findingsOf } from '../lib/finding.js'
import { counted } from '../lib/style.js'
import { expectedPack } from '../models/expected-pack.js'
import { assertNotEmpty, using } from '../with-core.js'
import { modelToServe, packObstacle } from './trials.js'

export async function checkModels(config: Config): Promise<Finding> {
  const dir = modelPackDir(config)
  const { ok, warning, problem } = findingsOf('model pack')
  try {
    const pack = await loadModelPack(dir)
    await verifyModelPack(pack)
    const { threshold, fmr, basis } = thresholdForFmr(pack, config.fmr)
    const detail = `${pack.modelId} is whole; threshold ${threshold.toFixed(4)} for a ${basis} FMR of ${fmr}${describeUsers(pack)}`
    const refused = refusedPack(pack, config)
    if (refused) return refused
    const { grade, reasons } = gradeOf(pack, config.fmr)
    if (grade === 'production') return ok(detail)
    const shortcoming = `${detail}; ${summarizeGrade(pack, config.fmr)}. For callers: ${CONSEQUENCE}`
    return warning(shortcoming, DECIDE_ON_GRADE, reasons)
  } catch (error) {
    const remedy = packRemedy(config.modelPack, dir)
    const isAbsent =
      error instanceof ModelPackError && error.code === 'pack_not_found' && isAbsentCause(error.cause)
    const expected = isAbsent ? await expectedPack(config.modelPack, dir) : null
    if (!expected) return problem((error as Error).message, remedy)
    return (
      refusedPack(expected.pack, config) ??
      warning(
        `${dir} does not exist yet; the first countersign serve builds it. It is ${summarizeGrade(expected.pack, config.fmr)}`,
        `to have it now, ${remedy}`,
      )
    )
  }
}

const ONLY_DEMO = 'only serve --demo accepts it as it is'

/** The finding about a pack that `serve` would refuse, or null. */
function refusedPack(pack: ModelPack, config: Config): Finding | null {
  const obstacle = packObstacle(pack, config)
  if (obstacle === null) return null
  const { problem } = findingsOf('model pack')
  return problem(
    `countersign serve refuses this pack: ${obstacle}`,
    ONLY_DEMO,
    gradeOf(pack, config.fmr).reasons,
  )
}

/** Warns of a calibration that cannot show whether the networks compute here what was measured; a pack that cannot be read has its finding. */
export async function checkVector(config: Config): Promise<Finding[]> {
  const pack = await loadModelPack(modelPackDir(config)).catch(() => null)
  if (!pack?.calibration || pack.calibration.check) return []
  const { warning } = findingsOf('check vector')
  return [
    warning(
      `the calibration of ${pack.modelId} holds no check vector: a graph that computes something else on this machine would not be noticed`,
      `measure it again with this version: countersign models calibrate ${pack.manifest.id} <photos>; see ${docPath('model-packs.md#what-a-network-must-be')}`,
    ),
  ]
}

/** Says on whom a calibration between users was measured, as a clause; empty for any other. */
function describeUsers({ calibration }: ModelPack): string {
  if (calibration?.source !== 'users') return ''
  const { people, likely_duplicates: duplicates = 0 } = calibration.data
  return `, measured between ${people} of your users on ${calibration.date} (likely duplicates: ${duplicates})`
}

export async function checkFollowingPacks(config: Config): Promise<Finding[]> {
  const { ok, warning, problem } = findingsOf('following packs')
  return Promise.all(
    followingPackDirs(config).map(async (dir, index): Promise<Finding> => {
      try {
        const pack = await loadModelPack(dir)
        await verifyModelPack(pack)
        const obstacle = packObstacle(pack, config, 'following')
        if (obstacle !== null) return problem(`countersign serve refuses this pack: ${obstacle}`, ONLY_DEMO)
        const graded = isProductionGrade(pack, config.fmr) ? ok : warning
        return graded(`${pack.modelId} is whole; ${summarizeGrade(pack, config.fmr)}`)
      } catch (error) {
        return problem((error as Error).message, packRemedy(config.followingPacks[index]!, dir))
      }
    }),
  )
}

/** A pack that this user may not read exists all the same. */
function isAbsentCause(cause: unknown): boolean {
  const code = (cause as NodeJS.ErrnoException | undefined)?.code
  return code === 'ENOENT' || code === 'ENOTDIR'
}

function packRemedy(pack: string, dir: string): string {
  const kind = findCataloguePack(pack)?.kind
  if (kind === 'built') return `run countersign models build ${pack}`
  return kind ? `run countersign models pull ${pack}` : `install the pack into ${dir}`
}

export async function checkNodes(config: Config): Promise<Finding[]> {
  if (!isPostgres(config)) return []
  const { ok, warning, problem } = findingsOf('nodes')
  return onDatabase(config, async ({ store }) => {
    const nodes = await store.services()
    const detail =
      nodes.length === 0
        ? 'none serves now'
        : nodes.map(({ name, version }) => `${name} (${version})`).join(', ')
    const unready = nodes.filter(({ notReady }) => notReady.length > 0)
    if (unready.length > 0)
      return problem(
        `not ready: ${unready.map(({ name, notReady }) => `${name} (${notReady.join(', ')})`).join(', ')}; all: ${detail}`,
        `see ${docPath('operations/runbooks.md')}#${unready[0]!.notReady[0]}`,
      )
    const differing = differingSettings(nodes)
    if (differing.length === 0) return ok(detail)
    return warning(
      `${detail}; these settings differ between them: ${differing.join(', ')}`,
      `give all services the same settings and restart them; see ${docPath('postgresql.md#several-nodes')}`,
    )
  })
}

/** A finding on the content of the database; none where it is missing or cannot be used, which another finding explains. */
async function onDatabase(config: Config, examine: (core: Core) => Promise<Finding>): Promise<Finding[]> {
  try {
    if (!(await databaseOf(config).exists())) return []
    return [await using(config, examine)]
  } catch {
    return []
  }
}

export async function checkDatabase(config: Config): Promise<Finding> {
  const { ok, warning, problem } = findingsOf('database')
  try {
    await assertNotEmpty(config)
    const { found, own } = await databaseOf(config).inspect()
    const described = databaseOf(config).describe()
    if (found === 0)
      return warning(`${described} does not exist yet; the first countersign serve or tenant create makes it`)
    if (found < own)
      return warning(
        `${described} has schema ${found}, made by an earlier version; countersign serve of this version migrates it to schema ${own}. Its content is not examined before that`,
        'make a backup with the version that serves it now, then restart',
      )
    const served = await modelToServe(config)
    const { issues, tenants, references, foreign } = await using(config, async ({ store }) => ({
      issues: await store.check(),
      ...(await store.read.counts()),
      foreign: served === null ? null : await foreignReferences(store.read, served),
    }))
    if (issues.length > 0) return damaged(issues)
    const detail = `whole; ${counted(tenants, 'tenant')}, ${counted(references.production, 'production reference')}`
    return foreign === null ? ok(detail) : warning(`${detail}. ${foreign}`)
  } catch (error) {
    const issues = await findDamage(config, error)
    if (issues.length > 0) return damaged(issues)
    const page = isPostgres(config) ? 'postgresql.md#failures' : 'operations.md#when-something-is-wrong'
    return problem((error as Error).message, `see ${docPath(page)}`)
  }
}

/** This many lines are enough to name the damaged tables and indexes. */
const MAX_ISSUES = 10

function damaged(issues: string[]): Finding {
  const more = issues.length - MAX_ISSUES
  return findingsOf('database').problem(
    `damaged: ${issues.slice(0, MAX_ISSUES).join('; ')}${more > 0 ? `; and ${more} more` : ''}`,
    `see ${docPath('operations/runbooks.md#database_corrupt')}`,
  )
}

/** Runs the integrity check of SQLite, which names what is damaged even where the database's own keys cannot be read. */
async function findDamage(config: Config, error: unknown): Promise<string[]> {
  if (isPostgres(config)) return []
  const { integrityIssues, isDamage } = await import('../../storage/sqlite/sqlite-integrity.js')
  const { peek } = await import('../../storage/sqlite/sqlite-peek.js')
  const cause = (error as Error).cause ?? error
  if (!isDamage(cause)) return []
  try {
    const issues = peek(sqliteFile(config), integrityIssues)
    return issues.length > 0 ? issues : [(cause as Error).message]
  } catch {
    return [(cause as Error).message]
  }
}

/** Compares the end of every audit log with its seal: one statement a tenant. (`audit verify` reads all entries.) */
export function checkAuditLogs(config: Config): Promise<Finding[]> {
  const { ok, problem } = findingsOf('audit logs')
  return onDatabase(config, async ({ store, audit }) => {
    const tenants = await store.read.tenants()
    const broken: string[] = []
    for (const { id, name } of tenants) if (!(await audit.endsAsSealed(store.read, id))) broken.push(name)
    const walk = await auditVerificationStatus(store, audit)
    for (const { tenantId } of walk.broken) {
      const name = tenants.find(({ id }) => id === tenantId)?.name
      if (name && !broken.includes(name)) broken.push(name)
    }
    if (broken.length === 0)
      return ok(
        `the ends of ${counted(tenants.length, 'log')} are as they were sealed; ${describeVerification(walk)}`,
      )
    const remedy = `run countersign audit verify to see where they break; see ${docPath('operations/audit-log.md')}`
    return problem(`changed in the database: ${broken.join(', ')}`, remedy)
  })
}

/** Reports a change of the master key that was begun and not finished: until it is, both keys open the database. */
export async function checkMasterKeyChange(config: Config): Promise<Finding[]> {
  const found = await databaseOf(config)
    .inspect()
    .catch(() => null)
  const ids = found?.masterKeys ?? []
  if (ids.length < 2) return []
  const { warning } = findingsOf('master key')
  return [
    warning(
      `a change is not finished: both ${ids.join(' and ')} open the database`,
      'finish it with countersign keys rotate-master --finish once every service has the new key, or cancel it with --cancel',
    ),
  ]
}

export async function checkFeatures(config: Config): Promise<Finding[]> {
  const findings = FEATURES.map(({ examine }) => examine?.(config, (work) => using(config, work)) ?? [])
  return (await Promise.all(findings)).flat()
}
