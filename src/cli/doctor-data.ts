/** What `doctor` finds out about model pack and database. */
import { findCataloguePack } from '../../models/install/catalogue.js'
import {
  loadModelPack,
  ModelPackError,
  thresholdForFmr,
  verifyModelPack,
} from '../../models/pack/model-pack.js'
import { gradeOf, isAccepted } from '../../models/pack/pack-grade.js'
import { type Config, isPostgres, modelPackDir } from '../config.js'
import { differingSettings } from '../fleet.js'
import { describeDatabase, hasDatabase } from '../storage/open-store.js'
import type { Finding } from './doctor-finding.js'
import { assertMasterKey, using } from './ledger.js'
import { counted } from './style.js'

export async function checkModels(config: Config): Promise<Finding> {
  const dir = modelPackDir(config)
  const check = 'model pack'
  try {
    const pack = await loadModelPack(dir)
    await verifyModelPack(pack)
    const { threshold, fmr, basis } = thresholdForFmr(pack, config.fmr)
    const detail = `${pack.modelId} is whole; threshold ${threshold.toFixed(4)} for a ${basis} FMR of ${fmr}`
    const { grade, reasons } = gradeOf(pack, config.fmr)
    if (grade === 'production') return { check, status: 'ok', detail }
    const isServed = isAccepted(pack, config.acceptPack)
    return {
      check,
      status: isServed ? 'ok' : 'warning',
      detail: `${detail}; of evaluation grade: ${reasons.join('; ')}`,
      ...(isServed
        ? {}
        : {
            remedy: `calibrate it on photos of your own, or accept it: COUNTERSIGN_ACCEPT_PACK=${pack.manifest.id}`,
          }),
    }
  } catch (error) {
    const remedy = packRemedy(config.modelPack, dir)
    const isAbsent = error instanceof ModelPackError && error.code === 'pack_not_found'
    if (isAbsent && findCataloguePack(config.modelPack)?.kind === 'built')
      return {
        check,
        status: 'warning',
        detail: `${dir} is not there yet; the first countersign serve builds it`,
        remedy: `to have it now, ${remedy}`,
      }
    return { check, status: 'problem', detail: (error as Error).message, remedy }
  }
}

function packRemedy(pack: string, dir: string): string {
  const kind = findCataloguePack(pack)?.kind
  if (kind === 'built') return `run countersign models build ${pack}`
  return kind ? `run countersign models pull ${pack}` : `install the pack into ${dir}`
}

/** Those that serve from a database that several may serve from. */
export async function checkNodes(config: Config): Promise<Finding[]> {
  const check = 'nodes'
  if (!isPostgres(config) || !(await hasDatabase(config).catch(() => false))) return []
  try {
    const nodes = await using(config, async ({ store }) => store.shared!.nodes())
    const detail =
      nodes.length === 0
        ? 'none serves now'
        : nodes.map(({ name, version }) => `${name} (${version})`).join(', ')
    const differing = differingSettings(nodes)
    return differing.length === 0
      ? [{ check, status: 'ok', detail }]
      : [
          {
            check,
            status: 'warning',
            detail: `${detail}; they have not all alike: ${differing.join(', ')}`,
            remedy: 'configure and restart them alike; see docs/postgresql.md',
          },
        ]
  } catch {
    // What keeps the database from being used is told of it.
    return []
  }
}

export async function checkDatabase(config: Config): Promise<Finding> {
  const check = 'database'
  try {
    if (!(await hasDatabase(config)))
      return {
        check,
        status: 'warning',
        detail: `${describeDatabase(config)} is not there yet; the first countersign serve or tenant create makes it`,
      }
    assertMasterKey(config)
    const { issues, tenants, references } = await using(config, async ({ store }) => ({
      issues: await store.check(),
      ...(await store.read.counts()),
    }))
    if (issues.length > 0) return { check, status: 'problem', detail: issues[0]!, remedy: 'restore a backup' }
    return {
      check,
      status: 'ok',
      detail: `whole; ${counted(tenants, 'tenant')}, ${counted(references.production, 'production reference')}`,
    }
  } catch (error) {
    const remedy = `see docs/${isPostgres(config) ? 'postgresql' : 'operations'}.md`
    return { check, status: 'problem', detail: (error as Error).message, remedy }
  }
}
