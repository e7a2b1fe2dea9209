/**
 * The cluster suite: verifies per second and latency (milliseconds) of one, two and more nodes over one PostgreSQL, and
 * what they cost its server. The engine is simulated and only waits, so that the rest of the service is measured.
 */
import { progressSteps } from '../src/cli/lib/progress.js'
import { takeCaptures } from './lib/captures.js'
import { countSaved, measureCommitMs, openDatabase, openSlowDatabase } from './lib/cluster-database.js'
import { reportCluster } from './lib/cluster-report.js'
import type { Round } from './lib/cluster-round.js'
import { ClusterUnderLoad } from './lib/cluster-under-load.js'
import { startLoadGenerator } from './lib/load-generator.js'
import { SERVICE_ROOMS } from './lib/measured-code.js'
import type { Suite } from './suite.js'

const NODES = [1, 2, 4] as const
const MAX_NODES = NODES.at(-1)!
const HOT_NODES = 2
/**
 * Number of users of all tenants together. Each user verifies only a few times in the run, as in a day: each capture
 * is compared with those before.
 */
const USERS = 1024
/** A tenant has at least so many users, so that its verifies are not all of one. */
const MIN_USERS_OF_TENANT = 2
/** Delay of the disk, in milliseconds, in the row of one tenant. */
const SYNC_MS = 2
/**
 * Rounds of each number of nodes, first in ascending and then in descending order, because the database grows
 * meanwhile.
 */
const ROUNDS = 2
const HOT_SHARE = 0.25
/** Load in seconds before the first round, so that the processes' JavaScript is compiled. */
const SETTLING_SECONDS = 4

export const cluster: Suite = {
  name: 'cluster',
  description: 'verifies per second of several nodes over one PostgreSQL, the engine simulated',
  measures: [...SERVICE_ROOMS, 'src/cluster', 'src/features/postgres'],
  // Rounds of 10 s: the dashboard's counts are saved every 5 s, and each round should hold as many saves.
  defaultSeconds: 80,
  async run(options) {
    const { seconds, tenants } = options
    const { enrolImages, verifyImages: images } = await takeCaptures()
    const database = await openDatabase(options.database)
    const slow = await openSlowDatabase(options.database, SYNC_MS)
    const commitMs = await measureCommitMs(database)
    const slowCommitMs = await measureCommitMs(slow)
    const generators = Array.from({ length: MAX_NODES }, startLoadGenerator)
    const setting = { images, options, generators }
    const roundSeconds = (seconds * (1 - HOT_SHARE)) / (ROUNDS * NODES.length)
    const progress = progressSteps('cluster')
    const steps = ROUNDS * NODES.length + 3
    let step = 0
    const announce = (label: string) => progress.update(step++, steps, label)

    const rounds = new Map<number, Round[]>(NODES.map((nodes) => [nodes, []]))
    let hot: Round
    try {
      announce('starting')
      const nodes = await ClusterUnderLoad.start(MAX_NODES, database, setting)
      announce('enrolling')
      const usersOfEach = Math.max(MIN_USERS_OF_TENANT, Math.floor(USERS / tenants))
      const served = await nodes.enrol(tenants, usersOfEach, enrolImages)
      await nodes.measure(served, MAX_NODES, SETTLING_SECONDS)
      for (let turn = 0; turn < ROUNDS; turn++)
        for (const used of turn % 2 === 0 ? NODES : NODES.toReversed()) {
          announce(`${used} ${used === 1 ? 'node' : 'nodes'}`)
          rounds.get(used)!.push(await nodes.measure(served, used, roundSeconds))
        }
      await nodes.stop()

      announce('one tenant')
      const again = await ClusterUnderLoad.start(HOT_NODES, slow, setting)
      const one = await again.enrol(1, USERS, enrolImages)
      await again.measure(one, HOT_NODES, SETTLING_SECONDS)
      hot = await again.measure(one, HOT_NODES, seconds * HOT_SHARE)
      await again.stop()
      progress.update(steps, steps, 'done')
      for (const generator of generators) await generator.stop()
    } finally {
      progress.stop()
    }
    return reportCluster(options, {
      rounds,
      roundSeconds,
      hot,
      hotNodes: HOT_NODES,
      syncMs: SYNC_MS,
      database: { ...database, commitMs },
      slow: { ...slow, commitMs: slowCommitMs },
      saved: await countSaved(database),
    })
  },
}
