/** Photos of LFW as tests embed them, and how they tell what they measured. */
import { fileURLToPath } from 'node:url'
import type { ModelPack } from '../../models/pack/model-pack.js'
import { faultsOf } from '../../src/biometrics/pipeline/judge/component-finding.js'
import { assessQuality } from '../../src/biometrics/pipeline/judge/quality-bounds.js'
import { type DataSet, readPeople } from '../../tools/evaluation/data-set.js'
import { embedPhotos } from '../../tools/evaluation/embed-photos.js'
import { EmbeddingCache, type PhotoResult } from '../../tools/evaluation/embedding-cache.js'
import { exactInterval } from '../../tools/evaluation/intervals.js'
import { anyFace } from '../biometrics/fixtures.js'
import { temporaryFolder } from '../support/temporary-folder.js'

const LFW = fileURLToPath(new URL('../../../shared/data/faces/lfw-calibration', import.meta.url))

export const MINUTE_MS = 60_000

/** @param photos of each person, at most */
export async function readLfw(photos = Number.POSITIVE_INFINITY): Promise<DataSet> {
  const data = await readPeople(LFW)
  const seen = data.people.map(() => 0)
  data.photos = data.photos.filter(({ person }) => ++seen[person]! <= photos)
  return data
}

export async function embedded(data: DataSet, { dir, modelId }: ModelPack): Promise<PhotoResult[]> {
  const cache = await EmbeddingCache.open(temporaryFolder(), { pack: modelId })
  const engine = {
    ...{ packDir: dir, workers: 2, executionProviders: ['cpu'], queueLimit: Number.MAX_SAFE_INTEGER },
    limits: { ...anyFace, face: 'centre' as const },
  }
  return embedPhotos(data, engine, cache, () => {}).finally(() => cache.close())
}

/** Whether the pack would enroll the photo. */
export const isSound = (pack: ModelPack, { face }: PhotoResult): boolean =>
  faultsOf(assessQuality(face!.components, 'enrol', pack.manifest.quality), 0).length === 0

/** @param small the rate below which percentages need four decimals */
export function rateText(events: number, trials: number, small = 0.001): string {
  const percent = (value: number) => `${(100 * value).toFixed(value < small ? 4 : 1)} %`
  const [low, high] = exactInterval(events, trials)
  return `${events} of ${trials}, ${percent(events / trials)} (${percent(low)} to ${percent(high)})`
}
