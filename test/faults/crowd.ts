/** Mixed load on an installation: tenants whose callers enroll, verify, erase, rotate and replay, and the checks of the answers. */
import Database from 'better-sqlite3'
import { Random as SeededRandom } from '../hostile/random.js'
import { apiClient } from '../support/client.js'
import { base64, face } from '../support/faces.js'
import { Caller, type CrowdTenant, type Findings, type Random } from './caller.js'
import type { Installation, RunningServer } from './installation.js'

const TENANTS = ['acme', 'globex']
const USER_LANES = 3

export interface CrowdOptions {
  seed: number
  /** Codes of refusals that the fault under test excuses. */
  excused?: string[]
}

export class Crowd {
  readonly random: Random
  readonly findings: Findings = {
    acknowledged: 0,
    executed: [],
    recovered: [],
    lost: [],
    executedTwice: [],
    broken: [],
    refused: {},
    answered: new Set(),
    unanswered: 0,
  }
  private readonly callers: Caller[] = []

  private constructor(
    readonly tenants: CrowdTenant[],
    image: string,
    { seed, excused = [] }: CrowdOptions,
  ) {
    const seeded = new SeededRandom(seed)
    this.random = () => seeded.next()
    for (const [index, tenant] of tenants.entries()) {
      const caller = (name: string, kind: 'users' | 'rotation') =>
        new Caller(
          `${TENANTS[index]}-${name}`,
          tenant,
          kind,
          image,
          this.random,
          this.findings,
          new Set(excused),
        )
      for (let user = 0; user < USER_LANES; user++) this.callers.push(caller(String(user), 'users'))
      this.callers.push(caller('rotation', 'rotation'))
    }
  }

  /** Creates the tenants. */
  static async gather(
    installation: Installation,
    server: RunningServer,
    options: CrowdOptions,
  ): Promise<Crowd> {
    const image = base64(await face('ada'))
    const tenants: CrowdTenant[] = []
    for (const name of TENANTS) tenants.push(await createTenant(installation, server.sandbox, name, image))
    return new Crowd(tenants, image, options)
  }

  /** One sentence for each problem that was found. */
  get problems(): string[] {
    const { lost, executedTwice, broken } = this.findings
    return [...lost, ...executedTwice, ...broken]
  }

  /** Sends calls until `stop` aborts or the server is gone. */
  async work(base: string, stop?: AbortSignal): Promise<void> {
    await Promise.all(this.callers.map((caller) => caller.work(base, stop)))
  }

  /** After a restart, or when the fault is over: repeats calls without an answer, and checks everything acknowledged. */
  async resolveUncertain(base: string): Promise<void> {
    await Promise.all(this.callers.map((caller) => caller.resolveUncertain(base)))
  }

  /** Checks that the file contains exactly what the callers know of, when no call is without an answer. */
  checkDatabase(file: string): void {
    const database = new Database(file, { readonly: true })
    try {
      const integrity = database.pragma('integrity_check', { simple: true })
      if (integrity !== 'ok') this.findings.broken.push(`integrity_check: ${integrity}`)
      if ((database.pragma('foreign_key_check') as unknown[]).length > 0)
        this.findings.broken.push('a foreign key dangles')

      const count = (sql: string) => database.prepare(sql).pluck().get() as number
      const live = this.callers.reduce((sum, caller) => sum + caller.liveUsers, 0)
      const subjects = count(`SELECT count(*) FROM subject WHERE environment = 'production'`)
      const references = count(
        `SELECT count(*) FROM reference JOIN subject ON subject.id = subject_id WHERE environment = 'production'`,
      )
      if (subjects !== live || references !== live)
        this.findings.broken.push(
          `${live} users are enrolled; found ${subjects} subjects, ${references} references`,
        )
      this.checkAudit(database)
    } finally {
      database.close()
    }
  }

  /** Checks that every acknowledged effect is in the log once, and no enrollment or rotation that no caller asked for. */
  private checkAudit(database: Database.Database): void {
    const rows = database.prepare('SELECT tenant_id AS tenantId, entry FROM audit').all() as Array<{
      tenantId: string
      entry: string
    }>
    const logged = new Map<string, number>()
    const successes = new Map<string, number>()
    const add = (counts: Map<string, number>, key: string) => counts.set(key, (counts.get(key) ?? 0) + 1)
    for (const { tenantId, entry } of rows) {
      const { event, request_id, status } = JSON.parse(entry)
      if (status >= 300) continue
      add(logged, request_id)
      add(successes, `${tenantId} ${event}`)
    }
    const expected = new Map<string, number>()
    for (const { tenantId, event, requestId } of this.findings.executed) {
      add(expected, `${tenantId} ${event}`)
      if (logged.get(requestId) !== 1)
        this.findings.lost.push(`${event} ${requestId} is not in the audit log once`)
    }
    for (const { tenantId, event } of this.findings.recovered) add(expected, `${tenantId} ${event}`)
    for (const [name, times] of successes)
      if (/ (enroll|rotate_signing)$/.test(name) && times !== (expected.get(name) ?? 0))
        this.findings.executedTwice.push(
          `${name}: executed ${times} times, asked for ${expected.get(name) ?? 0}`,
        )
  }
}

/** Enrolls users `<prefix>-0` and on. */
export async function enrolUsers(
  base: string,
  key: string,
  prefix: string,
  count: number,
  image: string,
): Promise<void> {
  const client = apiClient(`${base}/v1`, key)
  for (let i = 0; i < count; i++) {
    const { status, text } = await client.enroll({ user_id: `${prefix}-${i}`, image })
    if (status !== 201) throw new Error(`enrolment answered ${status}: ${text}`)
  }
}

/** Creates a tenant with a production key. */
export async function createTenant(
  installation: Installation,
  sandbox: string,
  name: string,
  image: string,
): Promise<CrowdTenant & { sandboxKey: string }> {
  const created = JSON.parse(await installation.run('tenant', 'create', name, '--json'))
  const client = apiClient(`${sandbox}/v1`, created.sandbox_key)
  const cleared = await client.verify({ user_id: 'first+match', image, action: 'login' })
  if (cleared.body?.production_key !== 'issued') throw new Error(`no production key: ${cleared.text}`)
  const { production_key } = JSON.parse(await installation.run('tenant', 'production-key', name, '--json'))
  const instance = JSON.parse(await installation.run('keys', 'instance-secret', '--json'))
  const { id, secret } = created.signing_secret
  return {
    id: created.tenant_id,
    key: production_key,
    sandboxKey: created.sandbox_key,
    secrets: { [id]: secret, [instance.id]: instance.secret },
  }
}
