/** The environment of a campaign: the database, nodes with their proxies to it, tenants, and callers under way all the time. */
import { randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Core } from '../../src/admin/core.js'
import { loadConfig } from '../../src/app/configuration.js'
import { openCore } from '../../src/app/core.js'
import { COMMAND_LINE } from '../../src/audit/audited-unit-of-work.js'
import { Random } from '../hostile/random.js'
import { base64, face } from '../support/faces.js'
import { plain } from '../support/images.js'
import { MODELS_DIR } from '../support/models-dir.js'
import { revealProductionKey } from '../support/operations.js'
import { Caller, LAST_ANSWER_MS } from './caller.js'
import { ChaosNode } from './chaos-node.js'
import { DatabasePair } from './database-pair.js'
import { EpochChanges } from './epoch-changes.js'
import { type ChaosTenant, type ChaosUser, Journal } from './journal.js'
import { OutageProbe } from './outage-probe.js'
import {
  ATTEMPTS,
  guessingScenario,
  productionScenario,
  rotatingScenario,
  type Scenario,
  sandboxScenario,
} from './scenarios.js'
import { TcpProxy } from './tcp-proxy.js'

export interface StageOptions {
  seed: number
  nodes: number
  /** Callers of each tenant in production; each has several calls for one user under way at once. */
  callers: number
  /** Leaves out the standby even if this machine could run one. */
  isServerAlone?: boolean
  /** Folder for the logs of the nodes. */
  logFolder: string
}

const TENANTS = ['acme', 'globex']
const RATE = 100_000
const RETRY_MS = 200
/** Pause of a caller between two rounds: the campaign does not need a saturated machine. */
const PAUSE_MS = 100

export class Stage {
  readonly journal = new Journal()
  readonly nodes: ChaosNode[] = []
  readonly tenants: ChaosTenant[] = []
  /** Sends the requests of the examination. */
  readonly examiner: Caller
  outageProbe!: OutageProbe
  readonly epochs: EpochChanges
  private readonly over = new AbortController()
  private working: Promise<unknown> = Promise.resolve()

  private constructor(
    private readonly folder: string,
    readonly database: DatabasePair,
    readonly core: Core,
    seed: number,
  ) {
    this.examiner = this.caller(new Random(seed))
    this.epochs = new EpochChanges(core, join(folder, 'epochs'))
  }

  /** Resolves when all nodes serve and the callers have begun. */
  static async set({ seed, nodes, callers, isServerAlone, logFolder }: StageOptions): Promise<Stage> {
    const folder = await mkdtemp(join(tmpdir(), 'countersign-chaos-nodes-'))
    const database = await DatabasePair.start(isServerAlone).catch(async (error) => {
      await rm(folder, { recursive: true, force: true })
      throw error
    })
    let stage: Stage | undefined
    try {
      const settings = common(join(folder, 'epochs'))
      await mkdir(join(folder, 'epochs'))
      const config = loadConfig({
        ...settings,
        COUNTERSIGN_DATA_DIR: folder,
        COUNTERSIGN_DATABASE: database.directUrl,
      })
      stage = new Stage(folder, database, await openCore(config), seed)
      for (let index = 1; index <= nodes; index++)
        stage.nodes.push(await stage.makeNode(`node-${index}`, settings, logFolder))
      // All nodes start at once, as after a power cut.
      await Promise.all(stage.nodes.map((node) => node.start()))
      for (const name of TENANTS) stage.tenants.push(await stage.makeTenant(name))
      await stage.begin(seed, callers)
      return stage
    } catch (error) {
      if (stage) await stage.clear()
      else {
        await database.dispose()
        await rm(folder, { recursive: true, force: true })
      }
      throw error
    }
  }

  /** Waits until all callers have completed their calls. */
  async quieten(): Promise<void> {
    this.over.abort()
    await this.working
    await this.outageProbe.stop()
  }

  async clear(): Promise<void> {
    this.over.abort()
    for (const node of this.nodes) await node.dispose()
    await this.outageProbe?.stop()
    await this.working
    await this.core.store.close()
    await this.database.dispose()
    await rm(this.folder, { recursive: true, force: true })
  }

  private async makeNode(name: string, settings: NodeJS.ProcessEnv, logFolder: string): Promise<ChaosNode> {
    const proxies = await Promise.all(this.database.servers.map(({ port }) => TcpProxy.listen(port)))
    const dataDir = join(this.folder, name)
    await mkdir(dataDir)
    return ChaosNode.make({
      name,
      env: {
        PATH: process.env.PATH,
        ...settings,
        COUNTERSIGN_DATA_DIR: dataDir,
        COUNTERSIGN_DATABASE: this.database.url(proxies.map(({ port }) => port)),
      },
      proxies,
      logFile: join(logFolder, `${name}.log`),
    })
  }

  private async makeTenant(name: string): Promise<ChaosTenant> {
    const { tenant, sandboxKey } = await this.core.tenancy.create(name, { ratePerSecond: RATE })
    const production = await revealProductionKey(this.core, tenant)
    return { id: tenant.id, name, keys: { production, sandbox: sandboxKey } }
  }

  private async begin(seed: number, callers: number): Promise<void> {
    const photos = {
      ada: base64(await face('ada')),
      adaElsewhere: base64(await face('adaElsewhere')),
      joan: base64(await face('joan')),
      blank: base64(await plain()),
    }
    this.outageProbe = new OutageProbe(this.examiner, this.tenants[0]!)
    const scenarios: Scenario[] = []
    for (const tenant of this.tenants) {
      const parts = (name: string) => ({
        caller: this.caller(new Random(seed * 1000 + scenarios.length)),
        tenant,
        name: `${tenant.name}-${name}`,
        photos,
      })
      for (let i = 1; i <= callers; i++) scenarios.push(productionScenario(parts(`person-${i}`)))
      scenarios.push(sandboxScenario(parts('trial')))
      scenarios.push(guessingScenario(parts('target'), (user) => this.unlock(user)))
      scenarios.push(rotatingScenario(parts('rotation')))
    }
    scenarios.push(() => this.epochs.attempt(this.over.signal))
    this.working = Promise.all(scenarios.map((scenario) => this.live(scenario)))
  }

  private async live(scenario: Scenario): Promise<void> {
    try {
      while (!this.over.signal.aborted) {
        await scenario()
        await sleep(PAUSE_MS)
      }
    } catch (error) {
      this.journal.broken.push((error as Error).message)
    }
  }

  private caller(random: Random): Caller {
    return new Caller(this.nodes, this.journal, random, this.over.signal)
  }

  /** Ends a lockout as the command does, over a connection without a proxy, until the database confirms it. */
  private async unlock({ tenant, userId }: ChaosUser): Promise<void> {
    const { tenancy, operations } = this.core
    const { unlocked } = this.journal
    for (let giveUpMs = Number.POSITIVE_INFINITY; ; await sleep(RETRY_MS))
      try {
        await operations.users.unlock(await tenancy.find(tenant.id), COMMAND_LINE, userId)
        unlocked.set(tenant.id, (unlocked.get(tenant.id) ?? 0) + 1)
        return
      } catch (error) {
        if (this.over.signal.aborted) giveUpMs = Math.min(giveUpMs, performance.now() + LAST_ANSWER_MS)
        if (performance.now() > giveUpMs) throw error
      }
  }
}

/** Configuration that all nodes share. */
function common(epochKeys: string): NodeJS.ProcessEnv {
  return {
    COUNTERSIGN_MASTER_KEY: randomBytes(32).toString('base64'),
    COUNTERSIGN_MODELS_DIR: MODELS_DIR,
    COUNTERSIGN_ACCEPT_PACK: 'baseline',
    COUNTERSIGN_WORKERS: '1',
    COUNTERSIGN_LOG_LEVEL: 'info',
    COUNTERSIGN_LOCKOUT_ATTEMPTS: `${ATTEMPTS}`,
    COUNTERSIGN_REPLAY_POLICY: 'reject',
    COUNTERSIGN_SANDBOX_RATE_LIMIT: `${RATE}`,
    COUNTERSIGN_EPOCH_KEYS: epochKeys,
    // The campaign itself rotates the epochs.
    COUNTERSIGN_EPOCH_HOURS: '0',
    COUNTERSIGN_EPOCH_RETENTION_HOURS: '0',
    // Callers choose a node themselves, as if one load balancer stood in front.
    COUNTERSIGN_PRODUCTION_URL: 'http://127.0.0.1:8080',
    COUNTERSIGN_SANDBOX_URL: 'http://127.0.0.1:8081',
    COUNTERSIGN_ADMIN_URL: 'http://127.0.0.1:8082',
  }
}
