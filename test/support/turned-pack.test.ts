import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, inject, it } from 'vitest'
import { loadModelPack } from '../../models/pack/model-pack.js'
import { scoreOf } from '../../src/biometrics/pipeline/judge/match.js'
import { startEngine } from '../biometrics/fixtures.js'
import { face } from './faces.js'
import { writeTurnedPack } from './turned-pack.js'

it('a turned pack matches the same face as the baseline does, and no embedding of another pack', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'countersign-turned-'))
  const dirs = [join(inject('modelsDir'), 'baseline'), join(folder, 'second'), join(folder, 'third')]
  await writeTurnedPack(dirs[1]!, inject('modelsDir'), 'second')
  await writeTurnedPack(dirs[2]!, inject('modelsDir'), 'third')
  const pack = await loadModelPack(dirs[0]!)
  const [, ...followingPackDirs] = dirs
  const engine = await startEngine(dirs[0]!, { followingPackDirs })
  /** Embeddings of a face by each of the packs. */
  const embed = async (name: 'ada' | 'adaToday') => {
    const alsoEmbed = ['second@1.0.0', 'third@1.0.0']
    const { reference, others } = await engine.enrol([await face(name)], { alsoEmbed })
    return [reference, ...alsoEmbed.map((id) => others[id]!.embedding)]
  }
  const [ada, today] = [await embed('ada'), await embed('adaToday')]
  await engine.close()
  const scores = ada.map((one) => today.map((other) => scoreOf(pack, one, other)))
  for (const [i, row] of scores.entries())
    for (const [j, score] of row.entries())
      if (i === j) expect(score).toBeCloseTo(scores[0]![0]!, 4)
      else expect(score).toBeLessThan(0.6)
  await rm(folder, { recursive: true, force: true })
})
