/** The routes for a tenant's keys and signing secret. */

import { keyView, productionKeyState, rotationView, secretView, tenantStatus } from '../../admin/views.js'
import { isoTime, optionalTime, SECOND_MS } from '../../lib/clock.js'
import type { ApiKeyRecord, TenantRecord } from '../../storage/records.js'
import * as bodies from '../bodies.js'
import type { KeyView, TenantView } from '../contract.js'
import type { DashboardServices } from '../dashboard-services.js'
import { asSecret, type TenantTable } from './route.js'

export const TENANT_ROUTES = {
  'GET /': {
    async answer({ services, tenant }) {
      const { clock, config, core, urls } = services
      const now = clock.now()
      const keys = await core.store.read.apiKeys(tenant.id)
      const secrets = await core.store.read.signingSecrets(tenant.id, now)
      const { fmr, threshold } = services.operatingPoint(tenant.fmr ?? config.fmr)
      return {
        ...tenantView(tenant),
        now: isoTime(now),
        fmr_in_force: fmr,
        threshold,
        model: services.engine.pack.modelId,
        urls: urls(),
        references: await core.store.read.referencesOf(tenant.id),
        audit_entries: (await core.store.read.auditHead(tenant.id))?.sequence ?? 0,
        keys: keys.map((key) => keyWithRate(key, tenant, services)),
        signing_secrets: secrets.map(({ id, createdAt, validUntil }) => ({
          id,
          created_at: isoTime(createdAt),
          valid_until: optionalTime(validUntil),
        })),
      }
    },
  },

  'POST /keys/reveal': {
    givesSecret: true,
    body: bodies.keyReveal,
    async answer({ services, tenant, actor, input }) {
      const { keys } = services.core.operations
      if (!input.new_secret) return { key: asSecret(await keys.revealProduction(tenant, actor)) }
      const { productionKey, signingSecret } = await keys.goLive(tenant, actor)
      services.countEffect('production', 'rotated')
      return { key: asSecret(productionKey), signing_secret: revealed(signingSecret) }
    },
  },

  'POST /keys/reissue': {
    givesSecret: true,
    body: bodies.keyReissue,
    async answer({ services, tenant, actor, input: { type, grace_seconds } }) {
      const { keys } = services.core.operations
      return { key: asSecret(await keys.reissue(tenant, actor, type, grace_seconds * SECOND_MS)) }
    },
  },

  'POST /keys/revoke': {
    body: bodies.keyRevocation,
    answer: async ({ services, tenant, actor, input }) => ({
      revoked: await services.core.operations.keys.revoke(tenant, actor, input.type),
    }),
  },

  'POST /keys': {
    givesSecret: true,
    body: bodies.newKey,
    async answer({ services, tenant, actor, input: { type, ...grants } }) {
      const { key } = await services.core.operations.keys.create(tenant, actor, type, grants)
      return { key: asSecret(key) }
    },
  },

  'POST /keys/named/reissue': {
    givesSecret: true,
    body: bodies.namedKeyReissue,
    async answer({ services, tenant, actor, input: { type, name, grace_seconds } }) {
      const { keys } = services.core.operations
      const key = await keys.reissueNamed(tenant, actor, { type, name }, grace_seconds * SECOND_MS)
      return { key: asSecret(key) }
    },
  },

  'POST /keys/named/revoke': {
    body: bodies.namedKey,
    async answer({ services, tenant, actor, input }) {
      const { id } = await services.core.operations.keys.revokeNamed(tenant, actor, input)
      return { revoked: id }
    },
  },

  'POST /rotate-signing': {
    givesSecret: true,
    body: bodies.rotation,
    async answer({ services, tenant, actor, input }) {
      const rotation = await services.core.operations.keys.rotateSigning(tenant, actor, input.force)
      services.countEffect('production', 'rotated')
      const view = rotationView(rotation)
      return { ...view, signing_secret: { ...view.signing_secret, ...revealed(rotation.current) } }
    },
  },
} satisfies Partial<TenantTable>

/** A signing secret, which is shown only once. */
export function revealed(signing: Parameters<typeof secretView>[0]) {
  const { id, secret } = secretView(signing)
  return { id, secret: asSecret(secret) }
}

export function tenantView(tenant: TenantRecord): TenantView {
  return {
    id: tenant.id,
    name: tenant.name,
    created_at: isoTime(tenant.createdAt),
    rate_per_second: tenant.ratePerSecond,
    burst: tenant.burst,
    fmr: tenant.fmr,
    require_liveness: tenant.requireLiveness,
    replace_verdict_minutes: tenant.replaceVerdictMinutes,
    production_key: productionKeyState(tenant),
    status: tenantStatus(tenant),
    suspended_at: optionalTime(tenant.suspendedAt),
    deleted_at: optionalTime(tenant.deletedAt),
  }
}

function keyWithRate(key: ApiKeyRecord, tenant: TenantRecord, services: DashboardServices): KeyView {
  const contract = services.core.tenancy.rateContract(tenant, key.type)
  return {
    ...keyView(key),
    state: keyState(key, services.clock.now()),
    rate: {
      per_second: contract.ratePerSecond,
      burst: contract.burst,
      remaining: services.rateLimiter.remaining(contract.holder, contract),
    },
  }
}

function keyState({ revokedAt, validUntil }: ApiKeyRecord, now: number): KeyView['state'] {
  if (revokedAt !== null) return 'revoked'
  if (validUntil === null) return 'active'
  return validUntil > now ? 'grace' : 'expired'
}
