/** Tenants and their API keys: created, authenticated, issued, revealed once, revoked, reissued. */

import type { SchedulingClass } from '../biometrics/types.js'
import type { Config, Environment } from '../config/config.js'
import { prefixedId } from '../crypto/identifiers.js'
import type { Clock } from '../lib/clock.js'
import { DomainError } from '../lib/domain-error.js'
import type { ApiKeyRecord, ModelMigrationRecord, TenantRecord } from '../storage/records.js'
import type { Store, StoreTransaction } from '../storage/store.js'
import { generateApiKey, hashApiKey, parseApiKey } from './api-key.js'
import { checkedGrants, type KeyGrants } from './key-grants.js'
import type { RateContract } from './rate-limiter.js'
import type { ActiveSecrets, RevealedSecret, SigningSecrets } from './signing-secrets.js'
import { assertLive, TenancyError } from './tenancy-error.js'
import { tenantModelsJson } from './tenant-models.js'

/** The burst of a production contract holds the requests of this many seconds. */
const BURST_SECONDS = 2
const SANDBOX_BURST_SECONDS = 5
const TENANT_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/

export interface Caller {
  tenant: TenantRecord
  key: ApiKeyRecord
}

/** A caller, with the secrets that sign the response. */
export interface AuthenticatedCaller extends Caller {
  secrets: ActiveSecrets
}

/** The contract of an existing tenant; null stands for the configured default. */
export type GrantedContract = Pick<
  TenantRecord,
  'ratePerSecond' | 'fmr' | 'requireLiveness' | 'replaceVerdictMinutes'
>

/** The contract of a new tenant; a field that is left out gets the configured default. */
export type Contract = { [Field in keyof GrantedContract]?: GrantedContract[Field] | undefined }

export interface TenantContract extends RateContract {
  /** Key of the rate limiter's bucket: tenant and environment. All keys of a tenant share one bucket. */
  holder: string
}

/** A key that was just made. Its text is shown once and stored only as a hash. */
export interface NewApiKey {
  key: string
  record: ApiKeyRecord
}

type KeyKind = Pick<ApiKeyRecord, 'type' | 'name' | 'scopes' | 'networks' | 'certificate'>

/** Grants of an environment's first key and of those that replace it: all scopes, any network. */
const EVERYTHING = { name: null, scopes: null, networks: null, certificate: null }
/** Begins the clause that names the command which issues the production key. */
const ISSUED_BY_VERIFICATION = 'The first approved verification in the sandbox issues it, and so does'
/** Named keys of each environment. */
const MAX_NAMED_KEYS = 50

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
    return this.store.transaction('installation', (tx) => this.add(tx, name, contract))
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
    const migration = await tx.modelMigration()
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
      policyHash: null,
      sandboxPolicyHash: null,
      passkeys: null,
      models: migration ? modelsOfNewTenant(migration) : null,
      driftSince: null,
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

  /** Changes the rate limit, the false match rate, the liveness requirement and the replacement window. */
  async setContract(tx: StoreTransaction, tenantId: string, contract: GrantedContract): Promise<void> {
    await tx.setContract(tenantId, { ...contract, burst: burstOf(contract.ratePerSecond) })
  }

  /** Finds a tenant by name or id. @throws TenancyError tenant_not_found */
  async find(nameOrId: string): Promise<TenantRecord> {
    const tenant =
      (await this.store.read.tenantByName(nameOrId)) ?? (await this.store.read.tenantById(nameOrId))
    if (!tenant) throw new TenancyError('tenant_not_found', `There is no tenant named ${nameOrId}.`)
    return tenant
  }

  /** Finds a tenant that is not deleted. @throws TenancyError tenant_not_found, tenant_deleted */
  async findLive(nameOrId: string): Promise<TenantRecord> {
    const tenant = await this.find(nameOrId)
    assertLive(tenant)
    return tenant
  }

  /**
   * Authenticates a caller by the Authorization header.
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

  /** @returns a caller that was authenticated before, if its key is still in force @throws DomainError invalid_api_key, revoked_api_key, tenant_suspended */
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

  /** The tenant's rate limit: its contract in production, a small default in the sandbox. */
  rateContract(tenant: TenantRecord, environment: Environment): TenantContract {
    const holder = `${tenant.id}/${environment}`
    if (environment === 'production')
      return { holder, ratePerSecond: tenant.ratePerSecond, burst: tenant.burst }
    const ratePerSecond = this.defaults.sandboxRateLimit
    return { holder, ratePerSecond, burst: Math.max(1, Math.ceil(ratePerSecond * SANDBOX_BURST_SECONDS)) }
  }

  /** Issues the production key without a verify in the sandbox. @returns whether none had issued it */
  async issueProductionKey(tx: StoreTransaction, tenant: TenantRecord): Promise<boolean> {
    const fresh = await tx.tenantById(tenant.id)
    if (fresh?.productionIssuedAt != null) return false
    await tx.setProductionIssued(tenant.id, this.clock.now())
    return true
  }

  /**
   * Makes the production key. It can be revealed once, and does not exist before, so that nothing can be stolen between issue and reveal.
   * @throws TenancyError production_key_not_issued, production_key_already_revealed
   */
  async revealProductionKey(tx: StoreTransaction, tenant: TenantRecord): Promise<string> {
    const refusal = `The production key is not issued yet. ${ISSUED_BY_VERIFICATION}`
    const { productionRevealedAt } = await assertIssued(tx, tenant, refusal)
    if (productionRevealedAt !== null)
      throw new TenancyError(
        'production_key_already_revealed',
        'The production key was revealed before and is stored only as a hash. ' +
          `Make a new one with: countersign tenant reissue-key ${tenant.name} --type production`,
      )
    await tx.setProductionRevealed(tenant.id, this.clock.now())
    return this.addKey(tx, tenant.id, 'production')
  }

  /** Revokes every valid key of the type at once. @returns how many there were @throws TenancyError no_active_key */
  async revokeKeys(tx: StoreTransaction, tenant: TenantRecord, type: Environment): Promise<number> {
    const count = await tx.revokeEveryApiKey(tenant.id, type, this.clock.now())
    if (count === 0)
      throw new TenancyError('no_active_key', `Tenant ${tenant.name} has no active ${type} key.`)
    return count
  }

  /**
   * Makes a new key, with the grants of the one before, which stays valid for `graceMs` milliseconds. A key that is in its grace period
   * already ends, so that at most two keys are valid.
   * @param name null for the first key of the environment
   * @throws TenancyError production_key_not_issued, no_active_key
   */
  async reissueKey(
    tx: StoreTransaction,
    tenant: TenantRecord,
    type: Environment,
    graceMs: number,
    name: string | null,
  ): Promise<string> {
    const now = this.clock.now()
    const { scopes, networks, certificate } =
      name === null ? EVERYTHING : await this.namedKey(tx, tenant, type, name)
    if (name === null && type === 'production') {
      const refusal = `There is no production key to reissue. ${ISSUED_BY_VERIFICATION}`
      const { productionRevealedAt } = await assertIssued(tx, tenant, refusal)
      if (productionRevealedAt === null) await tx.setProductionRevealed(tenant.id, now)
    }
    await tx.endGracePeriods(tenant.id, type, name, now)
    await tx.endApiKeys(
      tenant.id,
      type,
      name,
      graceMs > 0 ? { validUntil: now + graceMs } : { revokedAt: now },
    )
    return (await this.makeKey(tx, tenant.id, { type, name, scopes, networks, certificate })).key
  }

  /**
   * Makes a named key of the environment, with its own grants.
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
    if (type === 'production')
      await assertIssued(
        tx,
        tenant,
        'Production keys can be made after the first approved verification in the sandbox, or after',
      )
    const named = (await tx.apiKeys(tenant.id)).filter(
      (key) => key.type === type && key.name !== null && this.isInForce(key),
    )
    if (named.some(({ name }) => name === checked.name))
      throw new TenancyError(
        'key_exists',
        `Tenant ${tenant.name} has a ${type} key named ${checked.name} already. Revoke it first, or reissue it.`,
      )
    if (named.length >= MAX_NAMED_KEYS)
      throw new TenancyError(
        'too_many_keys',
        `Tenant ${tenant.name} has ${MAX_NAMED_KEYS} named ${type} keys, which is the maximum. Revoke one first.`,
      )
    return this.makeKey(tx, tenant.id, { type, ...checked })
  }

  /** @returns the valid key of this name @throws TenancyError no_active_key */
  private async namedKey(
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

  /** Revokes a named key at once, and its predecessor in its grace period. @throws TenancyError no_active_key */
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

/** The scheduling class of a tenant's calls: tenants share the engine by the rates of their contracts. */
export function schedulingClassOf(
  { holder, ratePerSecond }: TenantContract,
  environment: Environment,
): SchedulingClass {
  return { flow: holder, priority: environment, weight: ratePerSecond }
}

function burstOf(ratePerSecond: number): number {
  return Math.max(1, Math.ceil(ratePerSecond * BURST_SECONDS))
}

/** A tenant that is made during a change of the model pack takes part in it. */
function modelsOfNewTenant({ from, to, strictFmr, finishingAt }: ModelMigrationRecord): string {
  return tenantModelsJson(
    finishingAt === null
      ? { deciding: from, following: to, strictFmr }
      : { deciding: to, following: null, strictFmr: null },
  )
}

/** @param refusal before the command that issues the production key @throws TenancyError production_key_not_issued */
async function assertIssued(tx: StoreTransaction, { id, name }: TenantRecord, refusal: string) {
  const tenant = await tx.tenantById(id)
  if (tenant?.productionIssuedAt != null) return tenant
  throw new TenancyError(
    'production_key_not_issued',
    `${refusal}: countersign tenant production-key ${name} --issue`,
  )
}
