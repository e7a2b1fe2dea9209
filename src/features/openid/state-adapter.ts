/**
 * Where `oidc-provider` keeps what it must remember between two requests: rows of the database under digests of their names, each sealed
 * under a key made of its name. The database has no names, so neither it nor a copy opens a row. A row goes with the user whom it names.
 */
import { createHash, createHmac } from 'node:crypto'
import { decodeJwt } from 'jose'
import { type Adapter, type AdapterPayload, errors } from 'oidc-provider'
import { openWithAny, seal } from '../../crypto/sealed-box.js'
import type { ServiceKeys } from '../../crypto/service-keys.js'
import { type Clock, SECOND_MS } from '../../lib/clock.js'
import type { Store } from '../../storage/store.js'
import type { TemplateVault } from '../../users/template-vault.js'
import { namedPerson } from './named-person.js'
import type { OpenIdClients } from './openid-clients.js'
import { type OpenIdStateRecord, openIdStateReader, openIdStateWriter } from './openid-tables.js'

export interface StateAdapterParts {
  store: Store
  keys: Pick<ServiceKeys, 'secrets'>
  clock: Clock
  clients: Pick<OpenIdClients, 'find'>
  vault: TemplateVault
}

/** One kind of state of one issuer. */
export class StateAdapter implements Adapter {
  constructor(
    private readonly parts: StateAdapterParts,
    /** Issuer and kind: states of two environments, or of two kinds, never stand for each other. */
    private readonly kind: string,
  ) {}

  async upsert(id: string, payload: AdapterPayload, expiresIn: number): Promise<void> {
    const states = [await this.sealed(id, payload, expiresIn)]
    // The library finds a session by its `uid` as well.
    if (this.kind.endsWith(' Session'))
      states.push(await this.sealed(uidName(payload.uid!), { jti: id }, expiresIn))
    await this.parts.store.transaction('rows', async (tx) => {
      for (const state of states) await tx.statements(openIdStateWriter).put(state)
    })
  }

  /** Keeps a state under a name that is free. @returns the state that has the name already; undefined where this one has it now */
  async claim(id: string, payload: AdapterPayload, expiresIn: number): Promise<AdapterPayload | undefined> {
    const state = await this.sealed(id, payload, expiresIn)
    // The lock of rows holds no row that is not there yet: two claims at the same time, also on two nodes, need the stronger one.
    return this.parts.store.transaction('installation', async (tx) => {
      const table = tx.statements(openIdStateWriter)
      const earlier = this.opened(id, await table.find(state.lookup))
      if (!earlier) await table.put(state)
      return earlier
    })
  }

  async find(id: string): Promise<AdapterPayload | undefined> {
    return this.opened(id, await this.parts.store.read.statements(openIdStateReader).find(this.digest(id)))
  }

  async findByUid(uid: string): Promise<AdapterPayload | undefined> {
    const pointer = await this.find(uidName(uid))
    return pointer && this.find(pointer.jti!)
  }

  /** Device codes are not offered. */
  async findByUserCode(): Promise<undefined> {
    return undefined
  }

  /**
   * Marks it as used. Only one of two requests that use it at the same time succeeds, also on two nodes.
   * @throws InvalidGrant, InvalidRequestUri
   */
  async consume(id: string): Promise<void> {
    if (await this.useOnce(id)) return
    if (this.kind.endsWith('PushedAuthorizationRequest'))
      throw new errors.InvalidRequestUri('request_uri is invalid, expired, or was already used')
    throw new errors.InvalidGrant('authorization code already consumed')
  }

  /** @returns false where the state was used before, or is gone */
  useOnce(id: string): Promise<boolean> {
    const { store, clock } = this.parts
    return store.transaction('rows', (tx) =>
      tx.statements(openIdStateWriter).use(this.digest(id), clock.now()),
    )
  }

  /**
   * Deletes it. The library reads a sign-in and then deletes it: of several requests that have read it at the same time, also on two
   * nodes, only the one that deletes it may go on to a code.
   * @throws SessionNotFound for a sign-in that another request has ended
   */
  async destroy(id: string): Promise<void> {
    const isDeleted = await this.parts.store.transaction('rows', (tx) =>
      tx.statements(openIdStateWriter).delete(this.digest(id)),
    )
    if (!isDeleted && this.kind.endsWith(' Interaction'))
      throw new errors.SessionNotFound('interaction session not found')
  }

  async revokeByGrantId(grantId: string): Promise<void> {
    const digest = digestOf(`grant ${grantId}`)
    await this.parts.store.transaction('rows', (tx) => tx.statements(openIdStateWriter).deleteGrant(digest))
  }

  private async sealed(id: string, payload: AdapterPayload, expiresIn: number): Promise<OpenIdStateRecord> {
    const { keys, clock } = this.parts
    const lookup = this.digest(id)
    const { grantId } = payload
    const text = Buffer.from(JSON.stringify(payload))
    return {
      lookup,
      grantId: grantId === undefined ? null : digestOf(`grant ${grantId}`),
      blindIndex: await this.userOf(payload),
      sealed: seal(this.keyOf(id, keys.secrets.current), text, contextOf(lookup)),
      expiresAt: clock.now() + expiresIn * SECOND_MS,
      usedAt: null,
    }
  }

  /** Blind index of the user whom a state names: its account, or the person in the parameters of its request. */
  private async userOf(payload: AdapterPayload): Promise<Buffer | null> {
    const { accountId, request, authorizations = {} } = payload
    const params = payload.params ?? (request === undefined ? {} : decodeJwt(request))
    const named = accountId === undefined ? namedPerson(params) : { userId: accountId }
    const clientId = payload.clientId ?? params.client_id ?? Object.keys(authorizations)[0]
    if (!('userId' in named) || clientId === undefined) return null
    const client = await this.parts.clients.find(this.parts.store.read, String(clientId))
    if (!client) return null
    const { tenantId, environment } = client.record
    return this.parts.vault.blindIndex(tenantId, environment, named.userId)
  }

  private opened(id: string, state: OpenIdStateRecord | undefined): AdapterPayload | undefined {
    const { keys, clock } = this.parts
    if (!state || state.expiresAt <= clock.now()) return undefined
    const { current, others } = keys.secrets
    // Services of an earlier version seal under the key of the service itself.
    const older = [...others.map((key) => this.keyOf(id, key)), current, ...others]
    const named = { current: this.keyOf(id, current), others: older }
    const text = openWithAny(named, state.sealed, contextOf(state.lookup)).toString()
    const payload = JSON.parse(text) as AdapterPayload
    return state.usedAt === null ? payload : { ...payload, consumed: Math.floor(state.usedAt / SECOND_MS) }
  }

  private keyOf(name: string, secret: Buffer): Buffer {
    return createHmac('sha256', secret).update(`openid-state\0${this.kind}\0${name}`).digest()
  }

  private digest(name: string): Buffer {
    return digestOf(`${this.kind} ${name}`)
  }
}

/** Name under which a session's id is found by its `uid`. */
function uidName(uid: string): string {
  return `uid ${uid}`
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

function contextOf(lookup: Buffer): string {
  return `openid-state ${lookup.toString('hex')}`
}
