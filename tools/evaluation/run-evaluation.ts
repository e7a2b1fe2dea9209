/** Runs an evaluation on a path that an operator names. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { packFingerprint } from '../../models/pack/calibration.js'
import { hasByteDotProducts } from '../../models/pack/cpu-features.js'
import { loadModelPack } from '../../models/pack/model-pack.js'
import type { EngineOptions } from '../../src/biometrics/types.js'
import { type DataSet, isFolder, readPairs, readPeople } from './data-set.js'
import { type EmbedProgress, embedPhotos } from './embed-photos.js'
import { EmbeddingCache } from './embedding-cache.js'
import { evaluate, type Measured } from './evaluation.js'
import type { ImpostorProtocol } from './pair-scores.js'
import { type PeopleGroup, readGroups } from './people-groups.js'

export interface EvaluationOrder {
  /** A folder of people, or a file with pairs. */
  path: string
  /** Path of a file that labels people; null to evaluate without groups. */
  groupsFile: string | null
  engine: EngineOptions
  /** False match rate that the service is configured for. */
  fmr: number
  protocol: ImpostorProtocol
  /** Folder that keeps embeddings for the next run. */
  cacheFolder: string
  onProgress: EmbedProgress
}

export interface EvaluationRun extends Measured {
  data: DataSet
  groups: PeopleGroup[]
  engine: EngineOptions
}

/** Seed for resampling people when confidence intervals are computed. Another seed shifts them by the chance variation of 1,000 resamples. */
const SEED = 1

/** @throws DataSetError; ModelPackError; the operating system's error for a file that cannot be read */
export async function runEvaluation(order: EvaluationOrder): Promise<EvaluationRun> {
  const { path, groupsFile, engine, fmr, protocol, cacheFolder, onProgress } = order
  const data = (await isFolder(path)) ? await readPeople(path) : readPairs(await readFile(path, 'utf8'), path)
  const groups = groupsFile ? readGroups(await readFile(groupsFile, 'utf8'), data) : []
  const pack = await loadModelPack(engine.packDir)
  const cache = await EmbeddingCache.open(join(cacheFolder), {
    pack: packFingerprint(pack.manifest),
    upright: pack.calibration?.upright,
    limits: engine.limits,
    providers: engine.executionProviders,
    bytes: hasByteDotProducts,
  })
  const results = await embedPhotos(data, engine, cache, onProgress).finally(() => cache.close())
  const measured = evaluate({ data, results, pack, fmr, protocol, groups, seed: SEED, now: Date.now() })
  return { ...measured, data, groups, engine }
}
