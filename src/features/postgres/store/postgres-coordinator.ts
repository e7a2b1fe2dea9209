/**
 * Agreements between services through PostgreSQL. Each service renews a lease; what it holds is free once its lease has ended. All times
 * are the database's.
 */
import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { PeriodicTask } from '../../../lib/periodic-task.js'
import { COMMIT, VERSION } from '../../../lib/version.js'
import type {
  Claim,
  Coordinator,
  ServiceNode,
  TokenBucket,
  TokenLease,
} from '../../../storage/coordinator.js'
import { StoreUnavailableError } from '../../../storage/store.js'
import type { EpochProgress } from './epoch-book.js'
import type { PostgresAccess } from './postgres-client.js'
import { SCHEMA } from './postgres-migrations.js'
import { PostgresPool } from './postgres-pool.js'
import { TIMEOUTS } from './postgres-session.js'

const LEASE_MS = 2000
const BEAT_MS = 500
/** A service that could not renew its lease for so long stops using what others may soon take over. */
const SILENT_MS = 1500
/** Age at which the rows of services that were killed are deleted. */
const DELETED_AFTER_MS = 3_600_000
const CONNECTIONS = 4
/** The second part differs between processes of one machine, the first between containers. */
const NAME = `${hostname()}/${process.pid}`

export class PostgresCoordinator implements Coordinator {
  readonly id = randomUUID()
  isOutdated = false
  private readonly startedAt = Date.now()
  private settings: string | null = null
  private masterKeys: string | null = null
  readonly pool: PostgresPool
  private readonly heartbeat = new PeriodicTask(
    BEAT_MS,
    async () => {
      await this.renew()
      await this.sweep()
    },
    // `renewedAtMs` shows the failure.
    () => {},
  )
  private renewedAtMs = Number.NEGATIVE_INFINITY
  private epochs: EpochProgress | null = null
  private notReady: readonly string[] = []
  /** Tokens of claims that this service holds or asks for. */
  private readonly held = new Set<string>()

  constructor(access: PostgresAccess) {
    this.pool = new PostgresPool(access, {
      size: CONNECTIONS,
      timeouts: TIMEOUTS,
      // None of this data has to survive a crash of the server.
      settings: { synchronous_commit: 'off' },
    })
  }

  /** @throws as a query does; Error when the schema was changed beyond this version while the service started */
  async start(): Promise<void> {
    await this.renew()
    // Once the lease is known, migrations wait for this service: what is read from here on is the state after the last one.
    await this.renew()
    if (this.isOutdated) throw new Error('its schema was changed by a newer Countersign meanwhile.')
    this.heartbeat.start()
  }

  announce(settings: Record<string, string>): Promise<void> {
    this.settings = JSON.stringify(settings)
    return this.renew()
  }

  /** Publishes the ids with the next heartbeat. */
  showMasterKeys(ids: readonly string[]): void {
    this.masterKeys = JSON.stringify(ids)
  }

  async claim(scope: Buffer, payloadHash: Buffer): Promise<Claim> {
    if (performance.now() - this.renewedAtMs > SILENT_MS)
      throw new StoreUnavailableError(
        'PostgreSQL has not answered for too long: this service may have lost its lease',
      )
    const token = randomUUID()
    this.held.add(token)
    try {
      const held = await this.take(scope, payloadHash, token)
      if (held) this.held.delete(token)
      return held ?? { release: () => void this.release(token) }
    } catch (error) {
      this.held.delete(token)
      throw error
    }
  }

  /** @returns null when this service has the claim, else who holds it */
  private async take(
    scope: Buffer,
    payloadHash: Buffer,
    token: string,
  ): Promise<{ holderHash: Buffer; leaseSeconds: number } | null> {
    for (;;) {
      const taken = await this.pool.query({
        name: 'claim',
        isQuick: true,
        text: `INSERT INTO claim (scope, payload_hash, node, token) VALUES ($1, $2, $3, $4)
          ON CONFLICT (scope) DO UPDATE SET payload_hash = excluded.payload_hash, node = excluded.node, token = excluded.token
          WHERE claim.token = excluded.token
            OR NOT EXISTS (SELECT 1 FROM node WHERE id = claim.node AND lease_until > clock_timestamp())`,
        values: [scope, payloadHash, this.id, token],
      })
      if (taken.rowCount === 1) return null
      const held = await this.pool.query({
        name: 'claim-of',
        text: `SELECT payload_hash AS "holderHash", coalesce(extract(epoch FROM
            (SELECT lease_until FROM node WHERE id = claim.node) - clock_timestamp()), 0)::float8 AS "leaseSeconds"
          FROM claim WHERE scope = $1`,
        values: [scope],
      })
      // No row: the claim was released in between, so it is free.
      if (held.rows[0]) return held.rows[0] as { holderHash: Buffer; leaseSeconds: number }
    }
  }

  async leaseTokens(
    holder: string,
    { ratePerSecond, burst }: TokenBucket,
    most: number,
  ): Promise<TokenLease> {
    const { rows } = await this.pool.query({
      name: 'lease-tokens',
      isQuick: true,
      // A statement that has waited for the row may have an earlier time than the one before it: the bucket's time never runs backwards.
      text: `INSERT INTO bucket AS b (holder, granted, tokens, at)
        VALUES ($1, least($4, floor($3::float8)), $3::float8 - least($4, floor($3::float8)), statement_timestamp())
        ON CONFLICT (holder) DO UPDATE SET (granted, tokens, at) = (
          SELECT least($4, floor(filled)), filled - least($4, floor(filled)), greatest(b.at, statement_timestamp())
          FROM (SELECT least($3::float8, b.tokens
            + greatest(0, extract(epoch FROM statement_timestamp() - b.at)) * $2::float8) AS filled) AS now)
        RETURNING granted, tokens AS left`,
      values: [holder, ratePerSecond, burst, most],
    })
    return rows[0] as TokenLease
  }

  async acquireLeaderLease(forMs: number): Promise<{ isTaken: boolean; nowMs: number }> {
    const { rows } = await this.pool.query({
      name: 'take-duty',
      text: `WITH taken AS (
          UPDATE duty SET holder = $1, ends_at = clock_timestamp() + $2 * interval '1 ms'
          WHERE holder = $1 OR ends_at <= clock_timestamp() RETURNING 1)
        SELECT EXISTS (SELECT FROM taken) AS "isTaken",
          (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS "nowMs"`,
      values: [this.id, forMs],
    })
    return rows[0] as { isTaken: boolean; nowMs: number }
  }

  showReadiness(notReady: readonly string[]): void {
    this.notReady = notReady
  }

  showEpochs(progress: EpochProgress): void {
    this.epochs = progress
  }

  async stop(): Promise<void> {
    // A renewal under way on another connection would write the row again after its deletion. A server that hangs delays both alike.
    await this.heartbeat.stop()
    try {
      await this.pool.query({ text: 'DELETE FROM claim WHERE node = $1', values: [this.id] })
      await this.pool.query({ text: 'DELETE FROM node WHERE id = $1', values: [this.id] })
    } catch {
      // The lease ends without help.
    }
    await this.pool.end()
  }

  private async renew(): Promise<void> {
    // Taken before the statement, because the server counts the lease from when it gets it.
    const askedAtMs = performance.now()
    const { rows } = await this.pool.query({
      name: 'renew',
      // Writes the whole row each time, because a crash of the server empties the table. Reads one lock partition, by its index: during a
      // transaction that lasts for hours, such as a dump, the table `lane` has as many dead rows as there were commits.
      text: `WITH forgotten AS (DELETE FROM node WHERE lease_until < clock_timestamp() - $3 * interval '1 ms')
        INSERT INTO node (id, lease_until, name, version, schema, started_at, settings, epoch_loaded, epoch_used, master_keys, not_ready,
          build_commit)
        VALUES ($1, clock_timestamp() + $2 * interval '1 ms', $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
        ON CONFLICT (id) DO UPDATE SET lease_until = excluded.lease_until, settings = excluded.settings,
          epoch_loaded = excluded.epoch_loaded, epoch_used = excluded.epoch_used, master_keys = excluded.master_keys,
          not_ready = excluded.not_ready
        RETURNING (SELECT compatible_from FROM lane WHERE id = 1) AS "compatibleFrom"`,
      values: [
        this.id,
        LEASE_MS,
        DELETED_AFTER_MS,
        NAME,
        VERSION,
        SCHEMA,
        this.startedAt,
        this.settings,
        this.epochs?.loaded,
        this.epochs?.used,
        this.masterKeys,
        JSON.stringify(this.notReady),
        COMMIT,
      ],
    })
    this.renewedAtMs = askedAtMs
    this.isOutdated = rows[0].compatibleFrom > SCHEMA
  }

  /** Releases a claim. The next heartbeat finds claims that cannot be released now. */
  private async release(token: string): Promise<void> {
    this.held.delete(token)
    await this.giveBack([token]).catch(() => {})
  }

  /** Releases claims of this service that no call holds: an earlier release failed, or the answer to a claim was lost. */
  private async sweep(): Promise<void> {
    const { rows } = await this.pool.query({
      name: 'claims-of',
      text: 'SELECT token FROM claim WHERE node = $1',
      values: [this.id],
    })
    // Compared after the query, because a token is in `held` before the database knows it.
    const lost = (rows as Array<{ token: string }>)
      .map(({ token }) => token)
      .filter((token) => !this.held.has(token))
    if (lost.length > 0) await this.giveBack(lost)
  }

  private async giveBack(tokens: string[]): Promise<void> {
    await this.pool.query({
      name: 'release',
      isQuick: true,
      text: 'DELETE FROM claim WHERE token = ANY ($1::text[])',
      values: [tokens],
    })
  }
}

/** Services that hold a lease, oldest first. */
export async function listServices(pool: PostgresPool): Promise<ServiceNode[]> {
  const { rows } = await pool.query({
    name: 'nodes',
    text: `SELECT id, name, version, schema, started_at AS "startedAt", settings::json AS settings, master_keys::json AS "masterKeys",
        coalesce(build_commit, 'unknown') AS commit, coalesce(not_ready::json, '[]') AS "notReady",
        (extract(epoch FROM lease_until - clock_timestamp()) * 1000)::float8 AS "leaseMs"
      FROM node WHERE lease_until > clock_timestamp() AND name IS NOT NULL ORDER BY started_at, id`,
  })
  return rows as ServiceNode[]
}
