/** A service, a tenant and people at its dashboard, for a file of tests about the dashboard's API. */
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inject } from 'vitest'
import type { Calibration } from '../../models/pack/calibration.js'
import type { PersonRole } from '../../src/admin/accounts/account-tables.js'
import { totpCode, totpStep } from '../../src/admin/accounts/totp.js'
import { COMMAND_LINE } from '../../src/audit/audited-unit-of-work.js'
import { MINUTE_MS } from '../../src/lib/clock.js'
import {
  type DashboardAnswer,
  type DashboardClient,
  loginToken,
  request,
  signIn,
} from '../support/dashboard.js'
import { type OidcProvider, oidcProvider } from '../support/oidc-provider.js'
import { OPERATOR_PASSWORD } from '../support/operator.js'
import { writeCalibration, writeShiftedPack } from '../support/packs.js'
import { serviceOfFile, startService, type TestService, type TestTenant } from '../support/service.js'

type Start = Record<string, string> | (() => Promise<TestService>)
export type Credentials = Parameters<typeof signIn>[1]
/** Somebody who calls the dashboard's API, and signs in for the first call. */
export type Caller = Pick<DashboardClient, 'call'>

/** Each sign-in comes from another address: sign-ins are limited by address, and over PostgreSQL by a clock that no test can move. */
let visitors = 0
export const visitor = () => ({ 'X-Forwarded-For': `198.51.${100 + (++visitors >> 8)}.${visitors & 255}` })

/** A service and a tenant for the tests of a whole file, which waits for them at its top. */
export async function openConsole(start: Start = {}): Promise<Console> {
  const settings = { COUNTERSIGN_TRUSTED_PROXIES: '127.0.0.1', ...start }
  const running = await serviceOfFile(typeof start === 'function' ? start : settings)
  return new Console(running, await running.tenant())
}

class Console {
  private round = 0

  constructor(
    readonly running: TestService,
    public tenant: TestTenant,
  ) {}

  /** The tenant, by a login link. */
  own = this.lazily(() => this.byLink())
  /** The operator without a name. */
  operator = this.lazily(() => this.asOperator())
  /** An operator who may only look. */
  viewer = this.lazily(async () => (await this.addOperator('vera', 'viewer')).client)
  /** Another tenant, by a login link. */
  stranger = this.lazily(async () => this.byLink(await this.running.tenant()))

  get operations() {
    return this.running.operations
  }
  get store() {
    return this.running.service.core.store
  }
  get operators() {
    return this.operations.operators
  }

  /** Calls a route of the tenant. */
  call(method: string, path: string, body?: unknown, by: Caller = this.own): Promise<DashboardAnswer> {
    return by.call(method, `/tenants/${this.tenant.id}${path}`, body)
  }
  signIn(credentials: Credentials): Promise<DashboardClient> {
    return signIn(this.running, credentials, visitor())
  }
  /** The outcome of a sign-in: its status, the code of a refusal, and more of the answer where the test asks. */
  async answerTo(credentials: Credentials, more?: (answer: DashboardAnswer) => string): Promise<string> {
    const headers = { Origin: this.running.service.adminUrl, ...visitor() }
    const answer = await request(this.running, 'POST', '/session', credentials, headers)
    return more ? `${answer.outcome}: ${more(answer)}` : answer.outcome
  }
  async byLink({ id } = this.tenant): Promise<DashboardClient> {
    return this.signIn({ login_token: await loginToken(this.running, id) })
  }
  asOperator(password = OPERATOR_PASSWORD, name?: string): Promise<DashboardClient> {
    return this.signIn(name === undefined ? { password } : { name, password })
  }
  async addOperator(name: string, role: PersonRole): Promise<{ password: string; client: DashboardClient }> {
    const { password } = await this.operators.add(name, role, COMMAND_LINE)
    return { password, client: await this.signIn({ name, password }) }
  }
  /** The entries of a tenant's audit log. */
  async entries(id = this.tenant.id): Promise<Array<Record<string, unknown>>> {
    return entriesOf(this.running, id)
  }

  /** The next call of each of those who sign in for their first call begins another session. */
  signInAgain(): void {
    this.round++
  }

  private lazily(signIn: () => Promise<DashboardClient>): Caller {
    let [session, signedInAt]: [Promise<DashboardClient> | undefined, number] = [undefined, 0]
    return {
      call: async (...args) => {
        if (!session || signedInAt !== this.round) [session, signedInAt] = [signIn(), this.round]
        return (await session).call(...args)
      },
    }
  }
}

export async function entriesOf({ service }: TestService, tenantId: string) {
  const rows = await service.core.store.read.auditEntries(tenantId, 0, 1000)
  return rows.map(({ entry }) => JSON.parse(entry) as Record<string, unknown>)
}

/** The token at the end of a login link. */
export const tokenOf = (link: string) => link.split('/').at(-1)!

function alsoAtStop(running: TestService, end: () => Promise<unknown>): TestService {
  const { stop } = running
  running.stop = async () => {
    await stop()
    await end()
  }
  return running
}

/** A service whose operators sign in by an OpenID provider that the test runs. */
export async function startWithProvider(
  env: Record<string, string> = {},
): Promise<{ running: TestService; provider: OidcProvider }> {
  const client = { id: 'countersign', secret: 'client-secret' }
  const provider = await oidcProvider(client)
  const dir = await mkdtemp(join(tmpdir(), 'countersign-oidc-'))
  const file = join(dir, 'client.secret')
  await writeFile(file, `${client.secret}\n`, { mode: 0o600 })
  const running = await startService({
    COUNTERSIGN_OIDC_ISSUER: provider.issuer,
    COUNTERSIGN_OIDC_CLIENT_ID: client.id,
    COUNTERSIGN_OIDC_CLIENT_SECRET_FILE: file,
    ...env,
  })
  alsoAtStop(running, async () => {
    await provider.close()
    await rm(dir, { recursive: true, force: true })
  })
  return { running, provider }
}

export const OLD = 'baseline@1.0.0'
export const NEW = 'shifted@1.0.0'

/** A service with two packs, of which the first was measured on its own users. @param points of the measurement, instead of one */
export async function startWithTwoPacks(points?: Calibration['points']): Promise<TestService> {
  const folder = await mkdtemp(join(tmpdir(), 'countersign-two-packs-'))
  const [models, shifted] = [join(folder, 'models'), join(folder, 'shifted')]
  await cp(inject('modelsDir'), models, { recursive: true })
  const baseline = join(models, 'baseline')
  await writeCalibration(join(baseline, 'calibration.json'), baseline, {
    source: 'users',
    data: {
      ...{ photos: 900, people: 600, genuine_pairs: 0, impostor_pairs: 179_700 },
      ...{ failed_to_acquire: 0, likely_duplicates: 2 },
    },
    ...(points && { points }),
  })
  await writeShiftedPack(shifted, inject('modelsDir'))
  const packs = { COUNTERSIGN_MODELS_DIR: models, COUNTERSIGN_FOLLOWING_PACKS: shifted }
  const env = { COUNTERSIGN_ACCEPT_PACK: 'baseline,shifted', COUNTERSIGN_TRUSTED_PROXIES: '127.0.0.1' }
  const running = await startService({ ...packs, ...env }, { ownEngine: true })
  return alsoAtStop(running, () => rm(folder, { recursive: true, force: true }))
}

/** The time has come for the change of the packs to end. */
export async function finishChange(running: TestService): Promise<void> {
  running.clock.advance(2 * MINUTE_MS)
  await running.operations.modelSweep.advance(() => true)
}

export function fromBase32(text: string): Buffer {
  const bits = [...text].map((one) =>
    'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(one).toString(2).padStart(5, '0'),
  )
  const bytes = bits.join('').match(/.{8}/g)!
  return Buffer.from(bytes.map((byte) => Number.parseInt(byte, 2)))
}

/** The code of a second factor. @param steps later than now */
export const codeAt = ({ clock }: TestService, secret: string, steps = 0) =>
  totpCode(fromBase32(secret), totpStep(clock.now()) + steps)
