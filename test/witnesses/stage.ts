/** A tenant whose calls are recorded: what each one answers, reports and writes. */

import { COMMAND_LINE } from '../../src/audit/audited-unit-of-work.js'
import type { Environment } from '../../src/config/config.js'
import type { PolicyRequirements, PolicyRule } from '../../src/contract/action-policy.js'
import { webhookReader } from '../../src/features/webhooks/webhook-tables.js'
import type { Observation } from '../../src/http/observation/observation.js'
import { type ApiClient, type ApiResponse, clientOver } from '../support/client.js'
import { DESCRIPTIONS } from '../support/descriptions.js'
import { setPolicy } from '../support/policies.js'
import type { TestTenant } from '../support/service.js'
import { decodeJwt } from '../support/trust.js'
import { outboxOf, webhooksOf } from '../support/webhooks.js'
import { normalForm } from './normal-form.js'
import type { Row, Snapshot, Theatre } from './theatre.js'
import { type Members, shortened, stagesIn, unusual, usualHeaders } from './usual.js'

/** Headers of the connection, and those that say how long something took or is. */
const UNRECORDED_HEADERS = new Set([
  'connection',
  'content-length',
  'date',
  'keep-alive',
  'transfer-encoding',
])
/** Columns of the audit log, whose rows are recorded as what their entries say. A further one is recorded as a column. */
const AUDIT_COLUMNS: Record<string, string[]> = {
  audit: ['tenant_id', 'sequence', 'entry', 'hash', 'event'],
  audit_seal: ['tenant_id', 'sequence', 'mac'],
}

/** A step of a scenario as its file holds it. */
export interface Recorded {
  call: string
  [part: string]: unknown
}

export interface RecordedScenario {
  scenario: string
  calls: Recorded[]
}

/** The end of a step, of which some parts are recorded. */
export interface Ended {
  status?: number
  headers?: Headers
  // biome-ignore lint/suspicious/noExplicitAny: bodies are looked into freely
  body?: any
}

export class Stage {
  readonly calls: Recorded[] = []
  /** Clients whose calls are recorded. */
  readonly production: ApiClient
  readonly sandbox: ApiClient
  private readonly given = new Map<string, string>()

  private constructor(
    readonly theatre: Theatre,
    readonly tenant: TestTenant,
    /** Clients that set a scene, and whose calls are not recorded. */
    readonly quiet: Record<Environment, ApiClient>,
    private readonly keyIds: Record<Environment, string>,
  ) {
    this.production = this.recording(quiet.production, 'production')
    this.sandbox = this.recording(quiet.sandbox, 'sandbox')
  }

  /** A new tenant with both keys. */
  static async set(theatre: Theatre, contract: { replaceVerdictMinutes?: number; fmr?: number } = {}) {
    const { running } = theatre
    const tenant = await running.tenant({ ratePerSecond: 1000, ...contract })
    const production = await running.production(tenant)
    const awaited = (client: ApiClient) =>
      clientOver(async (...parameters) => {
        const response = await client.call(...parameters)
        await theatre.observed(response.headers.get('x-request-id'))
        return response
      })
    const keys = await running.database.query('SELECT id, type FROM api_key WHERE tenant_id = $1', [
      tenant.id,
    ])
    const keyIds = Object.fromEntries(keys.map(({ id, type }) => [type, id])) as Record<Environment, string>
    const quiet = { production: awaited(production), sandbox: awaited(tenant.sandbox) }
    return new Stage(theatre, tenant, quiet, keyIds)
  }

  get photos() {
    return this.theatre.photos
  }

  get running() {
    return this.theatre.running
  }

  advance(ms: number): void {
    this.running.clock.advance(ms)
  }

  /** A client of the same tenant or of nobody, whose calls are recorded. */
  recording(client: ApiClient, name: string): ApiClient {
    return clientOver((method, path, json, options) => {
      const call = async () => {
        const response = await client.call(method, path, json, options)
        await this.theatre.observed(response.headers.get('x-request-id'))
        return response
      }
      return this.act(`${method} ${path} at ${name}`, call)
    })
  }

  /** Records what happens during a step of any kind. */
  async act<End extends Ended | ApiResponse>(name: string, step: () => Promise<End>): Promise<End> {
    const { theatre } = this
    const now = this.running.clock.now()
    const [before, from] = [theatre.snapshot(), theatre.observations.length]
    const ended = await step()
    const around = { now, origins: theatre.origins, given: this.given }
    const form = (value: unknown, ...place: string[]) => normalForm(value, around, place)
    const after = theatre.snapshot()
    const headers = ended.headers && (form(recordedHeaders(ended.headers)) as Members)
    const observed = theatre.observations.slice(from).map((one) => ({ one, told: form(one) as Members }))
    const environment = observed[0]?.one.environment ?? 'production'
    // Placeholders are numbered in this order, which is that of the file.
    const body = ended.body && shortened(form(ended.body))
    const { audit, ...rows } = this.changes(before, after, form)
    const parts = {
      status: ended.status,
      headers: headers && unusual(headers, usualHeaders(environment)),
      body,
      ...mapped(this.tokensIn(ended.body), (token) => form(token)),
      audit,
      webhooks: (await this.webhooksIn(before, after)).map((one) => form(one)),
      observed: observed.map(({ one, told }) =>
        unusual(told, form(this.usualObservation(one, headers)) as Members),
      ),
      ...rows,
    }
    const isThere = ([, part]: [string, unknown]) =>
      part !== undefined && !(typeof part === 'object' && Object.keys(part ?? {}).length === 0)
    this.calls.push({
      call: `${this.calls.length + 1}. ${form(name)}`,
      ...Object.fromEntries(Object.entries(parts).filter(isThere)),
    })
    return ended
  }

  /** The facts that nearly every observation has. A file holds the others. */
  private usualObservation(
    { method, endpoint, environment, requestId, durationMs, timings }: Observation,
    headers: Members | undefined,
  ): Partial<Observation> {
    const { id, name } = this.tenant
    const described = DESCRIPTIONS.find((one) => one.id === endpoint)
    const isInHeader =
      headers !== undefined && Object.keys(timings).toSorted().join() === stagesIn(headers).toSorted().join()
    return {
      ...{ requestId, tenantId: id, tenantName: name, keyTenantId: id, keyId: this.keyIds[environment] },
      ...{ isReplay: false, isChallenge: false, address: '127.0.0.1', durationMs },
      ...(described?.method === method ? { method, path: described.path } : {}),
      ...(isInHeader ? { timings } : {}),
    }
  }

  /** Header and claims of each token of a verdict; those of the others are mostly those of the first. */
  private tokensIn(body: Ended['body']): Record<string, unknown> {
    const verdict = body?.result?.body ?? body
    if (typeof verdict?.jwt !== 'string') return {}
    const { secret } = this.tenant.secret
    const { header, claims } = decodeJwt(verdict.jwt, secret)
    const tokens: Record<string, unknown> = { jwt: { header, claims } }
    for (const name of ['jwt_next', 'jwt_public']) {
      if (!verdict[name]) continue
      const other = decodeJwt(verdict[name], secret)
      const isSame = JSON.stringify(other.claims) === JSON.stringify(claims)
      tokens[name] = { header: other.header, claims: isSame ? 'as in jwt' : other.claims }
    }
    return tokens
  }

  /** The events that wait for their delivery. */
  private async webhooksIn(before: Snapshot, after: Snapshot): Promise<unknown[]> {
    const isNew = (id: string) => !before.get('webhook_delivery')!.has(id)
    if (![...after.get('webhook_delivery')!.keys()].some(isNew)) return []
    const { store } = this.running.service.core
    const deliveries = await store.read.statements(webhookReader).deliveriesOf(this.tenant.id, 100)
    const bodies = deliveries
      .filter(({ id }) => isNew(id))
      .map((one) => outboxOf(this.running.service).body(store.read, one))
    return (await Promise.all(bodies)).map((body) => JSON.parse(String(body)))
  }

  /** Compares the rows of two snapshots: entries of the audit log, and rows that were inserted, updated and deleted. */
  private changes(
    before: Snapshot,
    after: Snapshot,
    form: (value: unknown, ...place: string[]) => unknown,
  ): { audit: unknown[] } & Record<'inserted' | 'updated' | 'deleted', Record<string, unknown[]>> {
    const found = { audit: [] as unknown[], inserted: {}, updated: {}, deleted: {} } as ReturnType<
      Stage['changes']
    >
    for (const [table, rows] of after) {
      const known = before.get(table)!
      const isNew = ([key]: [string, Row]) => !known.has(key)
      const inOrder = (some: Row[]) => this.inTheirOrder(some, table)
      const columns = (row: Row) =>
        Object.fromEntries(Object.entries(row).map(([column, value]) => [column, form(value, table, column)]))
      const inserted = inOrder([...rows].filter(isNew).map(([, row]) => row))
      const kept = [...rows].filter((one) => !isNew(one))
      const updated = kept
        .map(([key, row]) => this.update(table, known.get(key)!, row, form))
        .filter((one) => one !== null)
      const deleted = inOrder([...known].filter(([key]) => !rows.has(key)).map(([, row]) => row))
      if (table === 'audit') found.audit.push(...inserted.map(({ entry }) => form(entry, 'audit')))
      put(found.inserted, table, inserted.map(withoutAudit(table)).map(columns))
      put(found.updated, table, updated)
      put(
        found.deleted,
        table,
        deleted.map((row) => columns(this.keyOf(table, row))),
      )
    }
    return found
  }

  /** Ids of one millisecond have no order, so that rows are ordered by what is not drawn in them. */
  private inTheirOrder(rows: Row[], table: string): Row[] {
    const now = this.running.clock.now()
    const form = (row: Row) =>
      JSON.stringify(normalForm(row, { now, origins: this.theatre.origins, given: new Map() }, [table]))
    return rows.toSorted((a, b) => {
      const bySequence = Number(a.sequence ?? 0) - Number(b.sequence ?? 0)
      return bySequence || (form(a) < form(b) ? -1 : Number(form(a) > form(b)))
    })
  }

  /** The key of a row and each column that has changed, with both values; null where none has. */
  private update(
    table: string,
    was: Row,
    is: Row,
    form: (value: unknown, ...place: string[]) => unknown,
  ): Row | null {
    const hidden = AUDIT_COLUMNS[table] ?? []
    const changed = Object.keys(is).filter(
      (column) => !isSame(was[column], is[column]) && !hidden.includes(column),
    )
    if (changed.length === 0) return null
    const both = changed.map((column) => [
      column,
      [form(was[column], table, column), form(is[column], table, column)],
    ])
    const key = mapped(this.keyOf(table, is), (value, column) => form(value, table, column))
    return { ...key, ...Object.fromEntries(both) }
  }

  private keyOf(table: string, row: Row): Row {
    return Object.fromEntries((this.theatre.keys[table] ?? []).map((column) => [column, row[column]]))
  }

  /** Puts a policy in force in both environments; null for none. */
  async setPolicy(rules: PolicyRule[] | null, more: object = {}): Promise<void> {
    await setPolicy(this.running, this.tenant.id, rules && { rules, ...more })
  }

  require(required: PolicyRequirements): Promise<void> {
    return this.setPolicy([{ name: 'strict', require: required }])
  }

  /** Makes the tenant one whose production key was never issued. */
  async takeProductionKey(): Promise<void> {
    const changes = 'production_issued_at = NULL, production_revealed_at = NULL'
    await this.running.database.query(`UPDATE tenant SET ${changes} WHERE id = $1`, [this.tenant.id])
  }

  /** Has every event of the tenant wait for its delivery, which nobody makes. */
  async addWebhook(environment: Environment): Promise<void> {
    await webhooksOf(this.running.service).add(await this.record(), COMMAND_LINE, {
      url: 'http://localhost:1/hooks',
      environment,
      events: [],
    })
  }

  /** The actor that changes settings of the tenant. */
  readonly operator = COMMAND_LINE

  record() {
    return this.running.service.core.tenancy.find(this.tenant.id)
  }
}

/** Durations of the stages differ in every run. */
function recordedHeaders(headers: Headers): Record<string, string> {
  const recorded = [...headers].filter(([name]) => !UNRECORDED_HEADERS.has(name))
  return Object.fromEntries(recorded.map(([name, value]) => [name, value.replace(/;dur=[\d.]+/g, '')]))
}

function isSame(was: unknown, is: unknown): boolean {
  return Buffer.isBuffer(was) && Buffer.isBuffer(is) ? was.equals(is) : was === is
}

function withoutAudit(table: string) {
  const hidden = AUDIT_COLUMNS[table] ?? []
  return (row: Row) => Object.fromEntries(Object.entries(row).filter(([column]) => !hidden.includes(column)))
}

function put(found: Record<string, unknown[]>, table: string, rows: Row[]): void {
  const told = rows.filter((row) => Object.keys(row).length > 0)
  if (told.length > 0) found[table] = told
}

function mapped<A, B>(record: Record<string, A>, of: (value: A, name: string) => B): Record<string, B> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, of(value, name)]))
}
