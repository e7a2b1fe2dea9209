/** A tenant's own matters: keys, signing secret, traffic, erasure. */
import Type, { type Static } from 'typebox'
import type { AuditEvent } from '../audit/audit-log.js'
import { isoTime, SECOND_MS } from '../clock.js'
import type { Environment } from '../config.js'
import { EndpointRunner } from '../server/endpoint-runner.js'
import type { ApiKeyRecord, TenantRecord } from '../storage/records.js'
import type { StoreTransaction } from '../storage/store.js'
import { userId } from '../v1/schemas.js'
import type { DashboardServices } from './dashboard-services.js'
import { json } from './replies.js'
import type { RouteCall, TenantRoute } from './routes.js'
import { SCORE_BINS, WINDOW_NAMES, WINDOWS } from './traffic.js'

const environment = Type.Union([Type.Literal('sandbox'), Type.Literal('production')])
const MOST_GRACE_SECONDS = 30 * 24 * 3600

const closed = { additionalProperties: false }
const typeBody = Type.Object({ type: environment }, closed)
const reissueBody = Type.Object(
  { type: environment, grace_seconds: Type.Integer({ minimum: 0, maximum: MOST_GRACE_SECONDS }) },
  closed,
)
const rotateBody = Type.Object({ force: Type.Boolean() }, closed)
const eraseBody = Type.Object({ user_id: userId, environment }, closed)

const overview: TenantRoute = {
  method: 'GET',
  path: '',
  async handle({ services, tenant }) {
    const { clock, config, ledger, urls } = services
    const now = clock.now()
    const keys = await ledger.store.read.apiKeys(tenant.id)
    const secrets = await ledger.store.read.signingSecrets(tenant.id, now)
    const fmr = tenant.fmr ?? config.fmr
    return json({
      ...tenantView(tenant),
      now: isoTime(now),
      fmr_in_force: fmr,
      threshold: services.threshold(fmr),
      model: services.engine.pack.modelId,
      urls: urls(),
      keys: keys.map((key) => keyView(key, tenant, services)),
      signing_secrets: secrets.map((secret) => ({
        id: secret.id,
        created_at: isoTime(secret.createdAt),
        valid_until: secret.validUntil === null ? null : isoTime(secret.validUntil),
      })),
    })
  },
}

const traffic: TenantRoute = {
  method: 'GET',
  path: '/traffic',
  async handle({ services, tenant, query }) {
    const window = WINDOW_NAMES.find((name) => name === query.get('window')) ?? 'hour'
    return json({
      window,
      now: services.clock.now(),
      step_ms: WINDOWS[window].stepMs,
      span_ms: WINDOWS[window].spanMs,
      score_bins: SCORE_BINS,
      slots: services.traffic.slots(tenant.id, window),
    })
  },
}

const reveal: TenantRoute = {
  method: 'POST',
  path: '/keys/reveal',
  async handle(call) {
    const key = await audited(call, 'key_revealed', { type: 'production' }, (tx) =>
      call.services.ledger.tenancy.revealProductionKey(tx, call.tenant),
    )
    return json({ key })
  },
}

const reissue: TenantRoute<Static<typeof reissueBody>> = {
  method: 'POST',
  path: '/keys/reissue',
  body: reissueBody,
  async handle(call) {
    const { type, grace_seconds } = call.input
    const key = await audited(call, 'key_reissued', { type }, (tx) =>
      call.services.ledger.tenancy.reissueKey(tx, call.tenant, type, grace_seconds * SECOND_MS),
    )
    return json({ key })
  },
}

const revoke: TenantRoute<Static<typeof typeBody>> = {
  method: 'POST',
  path: '/keys/revoke',
  body: typeBody,
  async handle(call) {
    const { type } = call.input
    const revoked = await audited(call, 'key_revoked', { type }, (tx) =>
      call.services.ledger.tenancy.revokeKeys(tx, call.tenant, type),
    )
    return json({ revoked })
  },
}

const rotate: TenantRoute<Static<typeof rotateBody>> = {
  method: 'POST',
  path: '/rotate-signing',
  body: rotateBody,
  async handle(call) {
    const { ledger } = call.services
    const { current, previous } = await ledger.store.transaction(async (tx) => {
      const rotation = await ledger.secrets.rotate(tx, call.tenant.id, call.input.force)
      const facts = { current: rotation.current.id, previous: rotation.previous.id }
      await append(call, tx, 'rotate_signing', facts)
      return rotation
    })
    call.services.countEffect('production', 'rotated')
    return json({
      signing_secret: { id: current.id, secret: current.secret, created_at: isoTime(current.createdAt) },
      previous: { id: previous.id, valid_until: isoTime(previous.validUntil) },
    })
  },
}

/** Runs the very endpoint of DELETE /v1/delete, transaction and audit entry included. */
const erase: TenantRoute<Static<typeof eraseBody>> = {
  method: 'POST',
  path: '/erase',
  body: eraseBody,
  async handle({ services, tenant, input, actor, requestId, request, deadlineMs }) {
    const { endpoints, ledger } = services
    const endpoint = endpoints[input.environment].find(({ id }) => id === 'delete')!
    const runner = new EndpointRunner({ ...ledger, environment: input.environment })
    const executed = await runner.run(
      endpoint,
      {
        input: { user_id: input.user_id },
        environment: input.environment,
        tenant,
        keyId: actor,
        secrets: await ledger.secrets.active(ledger.store.read, tenant.id),
        signingKeyId: undefined,
        requestId,
        deadlineMs,
        signal: request.signal,
        confidential: false,
        timings: {},
        defer: () => {},
      },
      undefined,
    )
    const effect = executed.observed?.effect
    if (effect) services.countEffect(input.environment, effect)
    return json(JSON.parse(executed.body), executed.status, executed.headers)
  },
}

export const TENANT_ROUTES = [overview, traffic, reveal, reissue, revoke, rotate, erase]

export function tenantView(tenant: TenantRecord): Record<string, unknown> {
  return {
    id: tenant.id,
    name: tenant.name,
    created_at: isoTime(tenant.createdAt),
    rate_per_second: tenant.ratePerSecond,
    burst: tenant.burst,
    fmr: tenant.fmr,
    production_key: productionKeyState(tenant),
  }
}

export function productionKeyState({ productionIssuedAt, productionRevealedAt }: TenantRecord): string {
  if (productionIssuedAt === null) return 'not issued'
  return productionRevealedAt === null ? 'issued, not revealed yet' : 'revealed'
}

function keyView(key: ApiKeyRecord, tenant: TenantRecord, services: DashboardServices) {
  const contract = services.ledger.tenancy.rateContract({ tenant, key })
  return {
    id: key.id,
    type: key.type,
    hint: key.hint,
    state: keyState(key, services.clock.now()),
    created_at: isoTime(key.createdAt),
    valid_until: key.validUntil === null ? null : isoTime(key.validUntil),
    revoked_at: key.revokedAt === null ? null : isoTime(key.revokedAt),
    rate: {
      per_second: contract.ratePerSecond,
      burst: contract.burst,
      remaining: services.rateLimiter.remaining(key.id, contract),
    },
  }
}

function keyState({ revokedAt, validUntil }: ApiKeyRecord, now: number): string {
  if (revokedAt !== null) return 'revoked'
  if (validUntil === null) return 'active'
  return validUntil > now ? 'grace' : 'expired'
}

type TenantCall = Pick<RouteCall<unknown>, 'services' | 'actor' | 'requestId'> & { tenant: TenantRecord }

/** Changes something and audits the change, in one transaction. */
function audited<T>(
  call: TenantCall,
  event: AuditEvent['event'],
  facts: { type: Environment },
  work: (tx: StoreTransaction) => Promise<T>,
): Promise<T> {
  return call.services.ledger.store.transaction(async (tx) => {
    const result = await work(tx)
    await append(call, tx, event, facts)
    return result
  })
}

export function append(
  { services, actor, requestId, tenant }: TenantCall,
  tx: StoreTransaction,
  event: AuditEvent['event'],
  facts: Record<string, unknown>,
): Promise<void> {
  return services.ledger.audit.append(tx, tenant.id, { ...facts, event, actor, request_id: requestId })
}
