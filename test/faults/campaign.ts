/** Kills the real service at random moments under mixed load and checks, after each restart, that nothing acknowledged is lost. */
import { setTimeout as sleep } from 'node:timers/promises'
import { Crowd } from './crowd.js'
import { Installation } from './installation.js'

export interface CampaignOptions {
  kills: number
  seed: number
  onProgress?: (line: string) => void
}

/** Time from the beginning of the load to a kill: during the first enrollments, or in the middle of everything. */
const KILL_AFTER_MS = { min: 20, max: 700 }
/** In every third round the engine crashes first, under the same load; callers may notice only a delay. */
const CRASH_EVERY = 3
/** Far longer than the start of a new engine takes. */
const RECOVERY_PATIENCE_MS = 30_000

export async function runCampaign({ kills, seed, onProgress }: CampaignOptions) {
  const installation = await Installation.create()
  try {
    let server = await installation.serve()
    const crowd = await Crowd.gather(installation, server, { seed })
    const { random, findings } = crowd
    let nativeCrashes = 0
    for (let kill = 1; kill <= kills; kill++) {
      const working = crowd.work(server.production)
      if (kill % CRASH_EVERY === 0) {
        await sleep(random() * KILL_AFTER_MS.max)
        server.crashEngine()
        nativeCrashes++
        const health = await recovery(server.production, crowd.tenants[0]!.key)
        if (health !== 200) findings.broken.push(`health answers ${health} after a crash of the engine`)
      }
      await sleep(KILL_AFTER_MS.min + random() * (KILL_AFTER_MS.max - KILL_AFTER_MS.min))
      await server.kill()
      await working
      server = await installation.serve()
      await crowd.resolveUncertain(server.production)
      crowd.checkDatabase(installation.databaseFile)
      onProgress?.(`${kill}/${kills} kills, ${findings.acknowledged} acknowledged`)
    }
    const code = await server.stop()
    if (code !== 0) findings.broken.push(`serve exited with ${code} at SIGTERM`)
    await installation
      .run('audit', 'verify')
      .catch((error) => findings.broken.push(`audit verify: ${(error as Error).message}`))
    return {
      kills,
      /** Number of effects that were acknowledged to a caller. */
      acknowledged: findings.acknowledged,
      lost: findings.lost.length,
      executed_twice: findings.executedTwice.length,
      /** Number of deliberate crashes of the engine that were survived. */
      native_crashes: nativeCrashes,
      problems: crowd.problems,
    }
  } finally {
    await installation.dispose()
  }
}

/** Waits for the recovery of a crashed engine. @returns the last status of health, 200 as soon as a new engine serves */
async function recovery(base: string, key: string): Promise<number> {
  const giveUpAt = performance.now() + RECOVERY_PATIENCE_MS
  let degraded = false
  for (;;) {
    const { status } = await fetch(`${base}/v1/health`, { headers: { authorization: `Bearer ${key}` } })
    degraded ||= status === 503
    if ((degraded && status === 200) || performance.now() > giveUpAt) return degraded ? status : 0
  }
}
