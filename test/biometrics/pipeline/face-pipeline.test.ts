/** Pictures that share a worker's networks. */
import { expect, it } from 'vitest'
import { StageClock } from '../../../src/biometrics/pipeline/stage-clock.js'
import { loadPipeline } from '../../liveness/pipeline.js'
import { face } from '../../support/faces.js'

it('a face does not wait in the embedder for frames that are only measured', async () => {
  const pipeline = await loadPipeline()
  const picture = await face('ada')
  const clock = new StageClock()
  const order: string[] = []
  const looks = Array.from({ length: 8 }, (_, imageIndex) =>
    pipeline.look(picture, { imageIndex, checkLiveness: false, clock }).then(() => order.push('look')),
  )
  const embedded = pipeline.analyse(picture).then(() => order.push('face'))
  const more = Array.from({ length: 8 }, (_, imageIndex) =>
    pipeline.look(picture, { imageIndex, checkLiveness: false, clock }).then(() => order.push('look')),
  )
  await Promise.all([...looks, embedded, ...more])
  expect(order.at(-1)).toBe('look')
  await pipeline.release()
})
