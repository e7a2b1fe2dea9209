/** Tests of the engine that only waits, with which the cluster benchmark is measured. */
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { ENGINE_MS_VARIABLE } from '../../bench/lib/simulated-engine.js'
import { packageFile } from '../../src/lib/package-root.js'
import { baselinePack, plainPicture, startEngine } from '../biometrics/fixtures.js'

const ENGINE_MS = 30
const PING_MS = 250
/** An engine that answers none of eight pings is replaced, so that this is long enough to see it. */
const PINGS = 12

/** Starts an engine whose process is the simulated one. */
async function startSimulatedEngine(onIncident: (kind: string) => void) {
  const { execArgv, env } = process
  env[ENGINE_MS_VARIABLE] = String(ENGINE_MS)
  process.execArgv = [
    ...execArgv,
    '--import',
    new URL(`file://${packageFile('dist', 'bench', 'lib', 'simulated-engine.js')}`).href,
  ]
  try {
    return await startEngine(baselinePack(), {
      pingIntervalMs: PING_MS,
      onIncident: ({ kind }) => onIncident(kind),
    })
  } finally {
    process.execArgv = execArgv
    delete env[ENGINE_MS_VARIABLE]
  }
}

it('approves one person, goes on after a call that was cancelled, and answers pings', async () => {
  const incidents: string[] = []
  const engine = await startSimulatedEngine((kind) => incidents.push(kind))
  try {
    expect(engine.health()).toMatchObject({ provider: { active: 'simulated' } })
    const picture = await plainPicture().jpeg().toBuffer()
    const { reference } = await engine.enrol([picture])
    const cancelled = engine.verify([picture], reference, { signal: AbortSignal.timeout(ENGINE_MS / 3) })
    await expect(cancelled).rejects.toThrow()
    const { score } = await engine.verify([picture], reference)
    expect(score).toBeGreaterThan(0.5)
    await sleep(PINGS * PING_MS)
    expect(incidents).toEqual([])
    expect(engine.health()).toMatchObject({ status: 'ok', isSilent: false })
  } finally {
    await engine.close()
  }
})
