/** Tenants and their API keys: created, authenticated, issued, revealed once, revoked, reissued. */

import type { Config, Environment } from '../config/config.js'
import type { LivenessRequirement } from '../config/liveness-requirement.js'
import { prefixedId } from '../crypto/identifiers.js'
import type { Clock } from '../lib/clock.js'
import { DomainError } from '../lib/domain-error.js'
import { CodedError } from '../lib/errors.js'
import type { ApiKeyRecord, TenantRecord } from '../storage/records.js'
import type { Store, StoreTransaction } from '../storage/store.js'
import { generateApiKey, hashApiKey, parseApiKey } from './api-key.js'
import { checkedGrants, type KeyGrants } from './key-grants.js'
import type { RateContract } from './rate-limiter.js'
import type { ActiveSecrets, RevealedSecret, SigningSecrets } from './signing-secrets.js'

/** How many seconds' worth of requests may come at once. */
const BURST_SECONDS = 2
const SANDBOX_BURST_SECONDS = 5
const TENANT_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/

/** Refusals to an operator, at the command line or the dashboard. */
export class TenancyError extends CodedError<
  | 'invalid_tenant_name'
  | 'tenant_exists'
  | 'tenant_not_found'
  | 'production_key_not_issued'
  | 'production_key_already_revealed'
  | 'no_active_key'
  | 'key_exists'
  | 'too_many_keys'
  | 'tenant_suspended'
  | 'tenant_not_suspended'
  | 'tenant_deleted'
> {
  override readonly name = 'TenancyError'
}

export interface Caller {
  tenant: TenantRecord
  key: ApiKeyRecord
}

/** With what signs the answer. */
export interface AuthenticatedCaller extends Caller {
  secrets: ActiveSecrets
}

/** What is granted to a new tenant; the configured defaults where nothing is said. */
export interface Contract {
  ratePerSecond?: number
  fmr?: number
  requireLiveness?: LivenessRequirement
  replaceVerdictMinutes?: number
}

/** As it stands. */
export type GrantedContract = Pick<
  TenantRecord,
  'ratePerSecond' | 'fmr' | 'requireLiveness' | 'replaceVerdictMinutes'
>

export interface TenantContract extends RateContract {
  /** Tenant and environment, whatever the key: more keys are no more of a contract. */
  holder: string
}

/** A key that was just made: its text is told now and never again. */
export interface NewApiKey {
  key: string
  record: ApiKeyRecord
}

type KeyKind = Pick<ApiKeyRecord, 'type' | 'name' | 'scopes' | 'networks' | 'certificate'>

/** The first key of an environment, and each in its place. */
const EVERYTHING = { name: null, scopes: null, networks: null, certificate: null }
/** In each environment, beside the first one. */
const MAX_FURTHER_KEYS = 50

export interface CreatedTenant {
  tenant: TenantRecord
  sandboxKey: string
  signingSecret: RevealedSecret
}

export class Tenancy {
  constructor(
    private readonly store: Store,
    private readonly secrets: SigningSecrets,
    private readonly clock: Clock,
    private readonly defaults: Pick<Config, 'rateLimit' | 'sandboxRateLimit'>,
  ) {}

  /** @throws TenancyError invalid_tenant_name, tenant_exists */
  create(name: string, contract?: Contract): Promise<CreatedTenant> {
    return this.store.transaction((tx) => this.add(tx, name, contract))
  }

  /** @throws TenancyError invalid_tenant_name, tenant_exists */
  async add(tx: StoreTransaction, name: string, contract: Contract = {}): Promise<CreatedTenant> {
    if (!TENANT_NAME.test(name))
      throw new TenancyError(
        'invalid_tenant_name',
        `"${name}" is not a tenant name: use 1 to 64 letters, digits, dots, dashes or underscores.`,
      )
    const namesake = await tx.tenantByName(name)
    if (namesake)
      throw new TenancyError(
        'tenant_exists',
        namesake.deletedAt === null
          ? `There is a tenant named ${name} already.`
          : `A tenant named ${name} was deleted; its audit log stays under that name.`,
      )
    const now = this.clock.now()
    const ratePerSecond = contract.ratePerSecond ?? this.defaults.rateLimit
    const tenant: TenantRecord = {
      id: prefixedId('ten', now),
      name,
      createdAt: now,
      ratePerSecond,
      burst: burstOf(ratePerSecond),
      fmr: contract.fmr ?? null,
      requireLiveness: contract.requireLiveness ?? null,
      replaceVerdictMinutes: contract.replaceVerdictMinutes ?? null,
      capturePage: null,
      productionIssuedAt: null,
      productionRevealedAt: null,
      suspendedAt: null,
      deletedAt: null,
    }
    await tx.insertTenant(tenant)
    const sandboxKey = await this.addKey(tx, tenant.id, 'sandbox')
    const signingSecret = await this.secrets.create(tx, tenant.id)
    return { tenant, sandboxKey, signingSecret }
  }

  /** Changes what the tenant's production key may do, the false match rate of its verdicts, and what must be checked of captures. */
  async setContract(tx: StoreTransaction, tenantId: string, contract: GrantedContract): Promise<void> {
    await tx.setContract(tenantId, { ...contract, burst: burstOf(contract.ratePerSecond) })
  }

  /** By name or id. @throws TenancyError tenant_not_found */
  async find(nameOrId: string): Promise<TenantRecord> {
    const tenant =
      (await this.store.read.tenantByName(nameOrId)) ?? (await this.store.read.tenantById(nameOrId))
    if (!tenant) throw new TenancyError('tenant_not_found', `There is no tenant named ${nameOrId}.`)
    return tenant
  }

  /** One whose matters may still be changed. @throws TenancyError tenant_not_found, tenant_deleted */
  async findLive(nameOrId: string): Promise<TenantRecord> {
    const tenant = await this.find(nameOrId)
    assertLive(tenant)
    return tenant
  }

  /**
   * Who calls, from the Authorization header.
   * @param found is called with the key before the key is checked, so that a refused key can be named by its id
   * @throws DomainError missing_api_key, malformed_api_key, invalid_api_key, revoked_api_key, wrong_environment, tenant_suspended
   */
  async authenticate(
    authorization: string | undefined,
    environment: Environment,
    found: (key: ApiKeyRecord) => void = () => {},
  ): Promise<AuthenticatedCaller> {
    if (!authorization) throw new DomainError('missing_api_key')
    const token = /^Bearer +([^\s]+)$/i.exec(authorization)?.[1]
    const type = token ? parseApiKey(token) : null
    if (!type) throw new DomainError('malformed_api_key')
    const row = await this.store.read.apiKeyByHash(hashApiKey(token!), this.clock.now())
    if (!row) throw new DomainError('invalid_api_key')
    const { key, tenant, secrets } = row
    found(key)
    this.assertInForce(key)
    if (key.type !== environment) throw new DomainError('wrong_environment')
    if (tenant.suspendedAt !== null) throw new DomainError('tenant_suspended')
    return { tenant, key, secrets: this.secrets.activeOf(tenant.id, secrets) }
  }

  /** Who called before, as long as their key is in force. @throws DomainError invalid_api_key, revoked_api_key, tenant_suspended */
  async callerAgain(tenantId: string, keyId: string): Promise<Caller> {
    const tenant = await this.store.read.tenantById(tenantId)
    const key = (await this.store.read.apiKeys(tenantId)).find(({ id }) => id === keyId)
    if (!tenant || !key) throw new DomainError('invalid_api_key')
    this.assertInForce(key)
    if (tenant.suspendedAt !== null) throw new DomainError('tenant_suspended')
    return { tenant, key }
  }

  private assertInForce(key: ApiKeyRecord): void {
    if (!this.isInForce(key)) throw new DomainError('revoked_api_key')
  }

  private isInForce({ revokedAt, validUntil }: ApiKeyRecord): boolean {
    return revokedAt === null && (validUntil === null || validUntil > this.clock.now())
  }

  /** What the tenant may do: its contract in production, a small default in the sandbox. */
  rateContract(tenant: TenantRecord, environment: Environment): TenantContract {
    const holder = `${tenant.id}/${environment}`
    if (environment === 'production')
      return { holder, ratePerSecond: tenant.ratePerSecond, burst: tenant.burst }
    const ratePerSecond = this.defaults.sandboxRateLimit
    return { holder, ratePerSecond, burst: Math.max(1, Math.ceil(ratePerSecond * SANDBOX_BURST_SECONDS)) }
  }

  /**
   * The production key, once. It comes into being here, so that between issue and reveal there is nothing to steal.
   * @throws TenancyError production_key_not_issued, production_key_already_revealed
   */
  async revealProductionKey(tx: StoreTransaction, tenant: TenantRecord): Promise<string> {
    const fresh = await tx.tenantById(tenant.id)
    if (fresh?.productionIssuedAt == null)
      throw new TenancyError(
        'production_key_not_issued',
        'The production key is not issued yet: it is, as soon as a verify in the sandbox is approved.',
      )
    if (fresh.productionRevealedAt !== null)
      throw new TenancyError(
        'production_key_already_revealed',
        'The production key was revealed before and is stored only as a hash. ' +
          `Make a new one with: countersign tenant reissue-key ${tenant.name} --type production`,
      )
    await tx.setProductionRevealed(tenant.id, this.clock.now())
    return this.addKey(tx, tenant.id, 'production')
  }

  /** Ends every valid key of the type at once. @throws TenancyError no_active_key */
  async revokeKeys(tx: StoreTransaction, tenant: TenantRecord, type: Environment): Promise<number> {
    const count = await tx.revokeEveryApiKey(tenant.id, type, this.clock.now())
    if (count === 0)
      throw new TenancyError('no_active_key', `Tenant ${tenant.name} has no active ${type} key.`)
    return count
  }

  /**
   * A new key; the one before stays valid for `graceMs`, and one that is in its grace already ends: two keys at most are
   * valid. @throws TenancyError production_key_not_issued
   */
  async reissueKey(
    tx: StoreTransaction,
    tenant: TenantRecord,
    type: Environment,
    graceMs: number,
  ): Promise<string> {
    if (type === 'production') {
      const fresh = await tx.tenantById(tenant.id)
      if (fresh?.productionIssuedAt == null)
        throw new TenancyError(
          'production_key_not_issued',
          'There is no production key to reissue: it is issued by the first approved verify in the sandbox.',
        )
      if (fresh.productionRevealedAt === null) await tx.setProductionRevealed(tenant.id, this.clock.now())
    }
    return this.succeedKey(tx, tenant.id, { type, ...EVERYTHING }, graceMs)
  }

  /**
   * A further key of the environment, for a part of what the first one may do.
   * @throws TenancyError production_key_not_issued, key_exists, too_many_keys
   * @throws KeyGrantError invalid_key_name, invalid_scope, invalid_network
   */
  async createKey(
    tx: StoreTransaction,
    tenant: TenantRecord,
    type: Environment,
    grants: KeyGrants,
  ): Promise<NewApiKey> {
    const checked = checkedGrants(grants)
    const fresh = await tx.tenantById(tenant.id)
    if (type === 'production' && fresh?.productionIssuedAt == null)
      throw new TenancyError(
        'production_key_not_issued',
        'Production keys are made after the first approved verify in the sandbox.',
      )
    const further = (await tx.apiKeys(tenant.id)).filter(
      (key) => key.type === type && key.name !== null && this.isInForce(key),
    )
    if (further.some(({ name }) => name === checked.name))
      throw new TenancyError(
        'key_exists',
        `Tenant ${tenant.name} has a ${type} key named ${checked.name} already. Revoke it first, or reissue it.`,
      )
    if (further.length >= MAX_FURTHER_KEYS)
      throw new TenancyError(
        'too_many_keys',
        `Tenant ${tenant.name} has ${MAX_FURTHER_KEYS} further ${type} keys, which is the most. Revoke one first.`,
      )
    return this.makeKey(tx, tenant.id, { type, ...checked })
  }

  /** The valid keys of this name. @throws TenancyError no_active_key */
  async namedKey(
    tx: StoreTransaction,
    tenant: TenantRecord,
    type: Environment,
    name: string,
  ): Promise<ApiKeyRecord> {
    const key = (await tx.apiKeys(tenant.id)).find(
      (one) => one.type === type && one.name === name && this.isInForce(one),
    )
    if (!key)
      throw new TenancyError(
        'no_active_key',
        `Tenant ${tenant.name} has no active ${type} key named ${name}.`,
      )
    return key
  }

  /** Ends a further key at once, its predecessor in grace as well. @throws TenancyError no_active_key */
  async revokeNamedKey(
    tx: StoreTransaction,
    tenant: TenantRecord,
    type: Environment,
    name: string,
  ): Promise<ApiKeyRecord> {
    const key = await this.namedKey(tx, tenant, type, name)
    await tx.endApiKeys(tenant.id, type, name, { revokedAt: this.clock.now() })
    return key
  }

  /** A new key with the grants of the named one, which stays valid for `graceMs`. @throws TenancyError no_active_key */
  async reissueNamedKey(
    tx: StoreTransaction,
    tenant: TenantRecord,
    type: Environment,
    name: string,
    graceMs: number,
  ): Promise<string> {
    const { scopes, networks, certificate } = await this.namedKey(tx, tenant, type, name)
    return this.succeedKey(tx, tenant.id, { type, name, scopes, networks, certificate }, graceMs)
  }

  /** Returns a new key that replaces those of the same type and name. A key that is already in its grace period ends at once. */
  private async succeedKey(
    tx: StoreTransaction,
    tenantId: string,
    kind: KeyKind,
    graceMs: number,
  ): Promise<string> {
    const now = this.clock.now()
    const { type, name } = kind
    await tx.endGraces(tenantId, type, name, now)
    await tx.endApiKeys(
      tenantId,
      type,
      name,
      graceMs > 0 ? { validUntil: now + graceMs } : { revokedAt: now },
    )
    return (await this.makeKey(tx, tenantId, kind)).key
  }

  private async addKey(tx: StoreTransaction, tenantId: string, type: Environment): Promise<string> {
    return (await this.makeKey(tx, tenantId, { type, ...EVERYTHING })).key
  }

  private async makeKey(tx: StoreTransaction, tenantId: string, kind: KeyKind): Promise<NewApiKey> {
    const createdAt = this.clock.now()
    const key = generateApiKey(kind.type)
    const record: ApiKeyRecord = {
      id: prefixedId('key', createdAt),
      tenantId,
      ...kind,
      hash: hashApiKey(key),
      hint: key.slice(-4),
      createdAt,
      validUntil: null,
      revokedAt: null,
    }
    await tx.insertApiKey(record)
    return { key, record }
  }
}

/** @throws TenancyError tenant_deleted */
export function assertLive({ name, deletedAt }: TenantRecord): void {
  if (deletedAt !== null)
    throw new TenancyError(
      'tenant_deleted',
      `The tenant ${name} is deleted: nothing but its audit log is left.`,
    )
}

/** @throws TenancyError tenant_suspended */
export function assertNotSuspended({ name, suspendedAt }: TenantRecord): void {
  if (suspendedAt !== null)
    throw new TenancyError(
      'tenant_suspended',
      `The tenant ${name} is suspended: nobody acts for it but the operator.`,
    )
}

function burstOf(ratePerSecond: number): number {
  return Math.max(1, Math.ceil(ratePerSecond * BURST_SECONDS))
}
