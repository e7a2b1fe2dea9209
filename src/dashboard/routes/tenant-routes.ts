/** The routes for a tenant's keys and signing secret, and the operator's for its contract, login links, suspension and deletion. */
import Type from 'typebox'
import { assertLivenessServed } from '../../../models/pack/pack-grade.js'
import { rotationView, secretView } from '../../admin/key-operations.js'
import { keyState, keyView, tenantErasureView, tenantParts, tenantView } from '../../admin/views.js'
import { nullable } from '../../api/schemas.js'
import { LIVENESS_REQUIREMENTS } from '../../config/liveness-requirement.js'
import { DAY_MS, isoTime, SECOND_MS } from '../../lib/clock.js'
import type { ApiKeyRecord, TenantRecord } from '../../storage/records.js'
import { DashboardError } from '../dashboard-error.js'
import type { DashboardServices } from '../dashboard-services.js'
import { assertReached } from '../lib/assert-reached.js'
import { environment, fmr, ratePerSecond, text } from '../lib/bodies.js'
import { asSecret, tenantRoute } from './route.js'

const graceSeconds = Type.Integer({ minimum: 0, maximum: (30 * DAY_MS) / SECOND_MS })
const namedKey = { type: environment, name: text(64) }

export const TENANT_ROUTES = {
  'GET /': tenantRoute({
    right: 'read',
    async answer({ services, tenant }) {
      const { clock, config, core, urls } = services
      const now = clock.now()
      const keys = await core.store.read.apiKeys(tenant.id)
      const { fmr, threshold } = services.operatingPoint(tenant.fmr ?? config.fmr)
      return {
        ...shownTenant(tenant),
        now: isoTime(now),
        fmr_in_force: fmr,
        threshold,
        model: services.engine.pack.modelId,
        urls: urls(),
        ...(await tenantParts(core.store.read, tenant, now)),
        keys: keys.map((key) => keyWithRate(key, tenant, services)),
      }
    },
  }),

  'POST /keys/reveal': tenantRoute({
    right: 'write',
    givesSecret: true,
    /** `new_secret` asks for a new signing secret as well, which replaces the one used with the sandbox. */
    body: { new_secret: Type.Optional(Type.Boolean()) },
    async answer({ services, operations, tenant, actor, input }) {
      const { productionKey, signingSecret } = await operations.keys.revealProduction(tenant, actor, {
        newSecret: input.new_secret ?? false,
      })
      if (!signingSecret) return { key: asSecret(productionKey) }
      services.countEffect('production', 'rotated')
      return { key: asSecret(productionKey), signing_secret: revealed(signingSecret) }
    },
  }),

  'POST /keys/reissue': tenantRoute({
    right: 'write',
    givesSecret: true,
    body: { type: environment, grace_seconds: graceSeconds },
    async answer({ operations, tenant, actor, input: { type, grace_seconds } }) {
      const key = await operations.keys.reissue(tenant, actor, type, grace_seconds * SECOND_MS, null)
      return { key: asSecret(key) }
    },
  }),

  'POST /keys/revoke': tenantRoute({
    right: 'write',
    body: { type: environment },
    answer: async ({ operations, tenant, actor, input }) => ({
      revoked: await operations.keys.revoke(tenant, actor, input.type),
    }),
  }),

  /** A further key, with scopes and networks of its own. */
  'POST /keys': tenantRoute({
    right: 'write',
    givesSecret: true,
    body: {
      ...namedKey,
      /** Scopes of the key; null for all. */
      scopes: nullable(Type.Array(text(16), { maxItems: 32 })),
      /** Networks from which the key may be used; null for any. */
      networks: nullable(Type.Array(text(64), { maxItems: 64 })),
      /** Client certificate that the key requires; null for none. */
      certificate: Type.Optional(nullable(text(160))),
    },
    async answer({ operations, tenant, actor, input: { type, ...grants } }) {
      const { key } = await operations.keys.create(tenant, actor, type, grants)
      return { key: asSecret(key) }
    },
  }),

  'POST /keys/named/reissue': tenantRoute({
    right: 'write',
    givesSecret: true,
    body: { ...namedKey, grace_seconds: graceSeconds },
    async answer({ operations, tenant, actor, input: { type, name, grace_seconds } }) {
      const key = await operations.keys.reissue(tenant, actor, type, grace_seconds * SECOND_MS, name)
      return { key: asSecret(key) }
    },
  }),

  'POST /keys/named/revoke': tenantRoute({
    right: 'write',
    body: namedKey,
    answer: async ({ operations, tenant, actor, input: { type, name } }) => ({
      revoked: (await operations.keys.revokeNamed(tenant, actor, type, name)).id,
    }),
  }),

  'POST /rotate-signing': tenantRoute({
    right: 'write',
    givesSecret: true,
    body: { force: Type.Boolean() },
    async answer({ services, operations, tenant, actor, input }) {
      const rotation = await operations.keys.rotateSigning(tenant, actor, input.force)
      services.countEffect('production', 'rotated')
      const view = rotationView(rotation)
      return { ...view, signing_secret: { ...view.signing_secret, ...revealed(rotation.current) } }
    },
  }),
}

/** A signing secret, which is shown only once. */
export function revealed(signing: Parameters<typeof secretView>[0]) {
  const { id, secret } = secretView(signing)
  return { id, secret: asSecret(secret) }
}

export function shownTenant(tenant: TenantRecord) {
  const { id, ratePerSecond, burst } = tenant
  return { id, ...tenantView(tenant), rate_per_second: ratePerSecond, burst }
}

function keyWithRate(key: ApiKeyRecord, tenant: TenantRecord, services: DashboardServices) {
  const contract = services.core.tenancy.rateContract(tenant, key.type)
  const view = keyView(key)
  return {
    ...view,
    state: keyState(view, services.clock.now()),
    rate: {
      per_second: contract.ratePerSecond,
      burst: contract.burst,
      remaining: services.rateLimiter.remaining(contract.holder, contract),
    },
  }
}

export const TENANT_ADMIN_ROUTES = {
  'PATCH /': tenantRoute({
    right: 'admin',
    body: {
      rate_per_second: ratePerSecond,
      fmr: nullable(fmr),
      require_liveness: Type.Optional(nullable(Type.Enum(LIVENESS_REQUIREMENTS))),
      /** Null when a reference may be replaced without a verdict. */
      replace_verdict_minutes: Type.Optional(nullable(Type.Integer({ minimum: 1, maximum: 1440 }))),
    },
    async answer({ services, operations, tenant, actor, input }) {
      if (input.fmr !== null) assertReached(services, input.fmr)
      const {
        require_liveness: requireLiveness = tenant.requireLiveness,
        replace_verdict_minutes: replaceVerdictMinutes = tenant.replaceVerdictMinutes,
      } = input
      const bounds = { ratePerSecond: input.rate_per_second, fmr: input.fmr }
      const contract = { ...bounds, requireLiveness, replaceVerdictMinutes }
      assertLivenessServed(services.engine.pack, requireLiveness ?? 'none', 'The contract')
      return shownTenant(await operations.tenants.setContract(tenant, actor, contract))
    },
  }),

  'POST /suspend': tenantRoute({
    right: 'admin',
    answer: async ({ operations, tenant, actor }) =>
      shownTenant(await operations.lifecycle.suspend(tenant, actor)),
  }),

  'POST /resume': tenantRoute({
    right: 'admin',
    answer: async ({ operations, tenant, actor }) =>
      shownTenant(await operations.lifecycle.resume(tenant, actor)),
  }),

  'DELETE /': tenantRoute({
    right: 'admin',
    /** The tenant's name, again. */
    body: { name: text(64) },
    async answer({ operations, tenant, actor, input }) {
      if (input.name !== tenant.name) throw new DashboardError('not_confirmed')
      return tenantErasureView(tenant, await operations.lifecycle.delete(tenant, actor))
    },
  }),

  'POST /login-link': tenantRoute({
    right: 'admin',
    givesSecret: true,
    status: 201,
    answer: async ({ operations, urls, tenant, actor }) => ({
      login_link: asSecret(await operations.tenants.createLoginLink(tenant, actor, urls().admin)),
    }),
  }),
}
