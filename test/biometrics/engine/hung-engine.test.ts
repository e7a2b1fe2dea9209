/** An engine process that stands still, as one that is stuck in native code: the unanswered pings show it. */
import { expect, it } from 'vitest'
import { engineOf, plainPicture, writeLightPack } from '../fixtures.js'

const PATIENCE = { timeout: 60_000, interval: 5 }

const incidents: string[] = []
const engine = await engineOf(writeLightPack(), {
  faultInjection: true,
  pingIntervalMs: 250,
  onIncident: ({ kind }) => incidents.push(kind),
})

it('does not replace an engine whose task takes long while its event loop turns', async () => {
  await engine.injectFault({ kind: 'stall', durationMs: 4000 })
  expect(incidents).toEqual([])
  expect(engine.health()).toMatchObject({ status: 'ok', isSilent: false })
})

it('reports an idle engine that was stopped as silent, replaces it, and serves again', async () => {
  const stopped = engine.health().processId!
  process.kill(stopped, 'SIGSTOP')
  await expect.poll(() => engine.health().isSilent, PATIENCE).toBe(true)
  expect(engine.health()).toMatchObject({ status: 'degraded', workers: { ready: 1 } })
  await expect.poll(() => engine.health().workers.ready, PATIENCE).toBe(0)
  await expect.poll(() => engine.health(), PATIENCE).toMatchObject({ status: 'ok', isSilent: false })
  expect(engine.health().processId).not.toBe(stopped)
  expect(incidents).toEqual(['engine_hung', 'engine_process_lost'])
  const { images } = await engine.inspect([await plainPicture().jpeg().toBuffer()])
  expect(images).toHaveLength(1)
})
