/** Tests of the engine that only waits, with which the cluster benchmark is measured. */
import { afterAll, expect, it } from 'vitest'
import { ENGINE_MS_VARIABLE } from '../../bench/lib/simulated-engine.js'
import { packageFile } from '../../src/lib/package-root.js'
import { copyBaselinePack, plainPicture, removeTemporaryDirs, startEngine } from '../biometrics/fixtures.js'

const ENGINE_MS = 30
/** Shorter than the wait for a picture, so that pings arrive while a task is under way. */
const PING_MS = 10

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
    return await startEngine(copyBaselinePack(), {
      pingIntervalMs: PING_MS,
      onIncident: ({ kind }) => onIncident(kind),
    })
  } finally {
    process.execArgv = execArgv
    delete env[ENGINE_MS_VARIABLE]
  }
}

afterAll(removeTemporaryDirs)

it('approves one person, answers pings meanwhile, and goes on after a call that was cancelled', async () => {
  const incidents: string[] = []
  const engine = await startSimulatedEngine((kind) => incidents.push(kind))
  try {
    expect(engine.health()).toMatchObject({ provider: { active: 'simulated' } })
    const picture = await plainPicture().jpeg().toBuffer()
    const { reference } = await engine.enrol([picture])
    const cancelled = engine.verify([picture], reference, { signal: AbortSignal.timeout(PING_MS) })
    await expect(cancelled).rejects.toThrow()
    const { score } = await engine.verify([picture], reference)
    expect(score).toBeGreaterThan(0.5)
    expect(incidents).toEqual([])
    expect(engine.health()).toMatchObject({ status: 'ok', isSilent: false })
  } finally {
    await engine.close()
  }
})
