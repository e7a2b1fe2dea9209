/** The operator's matters: tenants and their contracts, and the state of the whole. */
import { stat } from 'node:fs/promises'
import Type, { type Static } from 'typebox'
import { installedPacks } from '../../models/pack/installed-packs.js'
import { networkFiles } from '../../models/pack/model-pack.js'
import { isoTime } from '../clock.js'
import { sqliteFile } from '../config.js'
import { createLoginLink } from '../tenancy/login-link.js'
import { json } from './replies.js'
import type { OperatorRoute, TenantRoute } from './routes.js'
import { append, tenantView } from './tenant-routes.js'

const rate = Type.Number({ exclusiveMinimum: 0, maximum: 1_000_000 })
const fmr = Type.Number({ exclusiveMinimum: 0, exclusiveMaximum: 1 })
const closed = { additionalProperties: false }
const createBody = Type.Object(
  {
    name: Type.String({ maxLength: 64 }),
    rate_per_second: Type.Optional(rate),
    fmr: Type.Optional(fmr),
  },
  closed,
)
const contractBody = Type.Object({ rate_per_second: rate, fmr: Type.Union([fmr, Type.Null()]) }, closed)

const tenants: OperatorRoute = {
  method: 'GET',
  path: '/api/tenants',
  handle: async ({ services }) =>
    json({ tenants: (await services.ledger.store.read.tenants()).map(tenantView) }),
}

const create: OperatorRoute<Static<typeof createBody>> = {
  method: 'POST',
  path: '/api/tenants',
  body: createBody,
  async handle({ services, input }) {
    const { ledger, clock, urls } = services
    const { tenant, sandboxKey, signingSecret } = await ledger.tenancy.create(input.name, {
      ...(input.rate_per_second === undefined ? {} : { ratePerSecond: input.rate_per_second }),
      ...(input.fmr === undefined ? {} : { fmr: input.fmr }),
    })
    const link = { tenantId: tenant.id, adminUrl: urls().admin, now: clock.now() }
    return json(
      {
        tenant: tenantView(tenant),
        sandbox_key: sandboxKey,
        signing_secret: { id: signingSecret.id, secret: signingSecret.secret },
        login_link: await ledger.store.transaction((tx) => createLoginLink(tx, link)),
      },
      201,
    )
  },
}

const system: OperatorRoute = {
  method: 'GET',
  path: '/api/system',
  async handle({ services }) {
    const { engine, ledger, config, version, startedAt, urls, clock } = services
    const { store } = ledger
    const { pack } = engine
    return json({
      version,
      node: process.version,
      now: isoTime(clock.now()),
      started_at: isoTime(startedAt),
      urls: urls(),
      engine: engine.health(),
      memory_bytes: process.memoryUsage.rss(),
      database: {
        status: (await store.isHealthy()) ? 'ok' : 'degraded',
        ...(await databaseBytes(sqliteFile(config))),
        counts: await store.read.counts(),
      },
      pack: {
        id: pack.modelId,
        description: pack.manifest.description,
        networks: networkFiles(pack.manifest).map(({ file, licence }) => ({ file, licence })),
        calibration: pack.manifest.calibration.points,
      },
      packs: (await installedPacks(config.modelsDir, pack.dir)).map(({ id, model, dir, problem }) => ({
        id: model ?? id,
        active: dir === pack.dir,
        problem,
      })),
    })
  },
}

/** Of the main file, and of the log that goes into it at the next checkpoint. */
async function databaseBytes(file: string): Promise<{ bytes: number; log_bytes: number }> {
  const sizeOf = async (path: string) => (await stat(path).catch(() => null))?.size ?? 0
  return { bytes: await sizeOf(file), log_bytes: await sizeOf(`${file}-wal`) }
}

export const OPERATOR_ROUTES = [tenants, create, system]

/** Below a tenant, yet the operator's: what a tenant is granted, and who may sign in for it. */
export const CONTRACT_ROUTES: Array<TenantRoute<never>> = [
  {
    method: 'PATCH',
    path: '',
    body: contractBody,
    async handle(call: Parameters<TenantRoute<Static<typeof contractBody>>['handle']>[0]) {
      const { input, tenant } = call
      const { store, tenancy } = call.services.ledger
      const contract = { ratePerSecond: input.rate_per_second, fmr: input.fmr }
      await store.transaction(async (tx) => {
        await tenancy.setContract(tx, tenant.id, contract)
        await append(call, tx, 'contract_changed', {
          rate_per_second: contract.ratePerSecond,
          fmr: contract.fmr,
        })
      })
      return json(tenantView(await tenancy.find(tenant.id)))
    },
  } as TenantRoute<never>,
  {
    method: 'POST',
    path: '/login-link',
    async handle({ services, tenant }: Parameters<TenantRoute['handle']>[0]) {
      const { ledger, clock, urls } = services
      const link = { tenantId: tenant.id, adminUrl: urls().admin, now: clock.now() }
      return json({ login_link: await ledger.store.transaction((tx) => createLoginLink(tx, link)) }, 201)
    },
  },
]
