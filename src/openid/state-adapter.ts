/** Where `oidc-provider` keeps what it must remember between two requests: sealed rows of the database, under digests of their names. */
import { createHash } from 'node:crypto'
import { type Adapter, type AdapterPayload, errors } from 'oidc-provider'
import { openWithAny, seal } from '../crypto/sealed-box.js'
import type { ServiceKeys } from '../crypto/service-keys.js'
import { type Clock, SECOND_MS } from '../lib/clock.js'
import type { OpenIdStateRecord } from '../storage/records.js'
import type { Store } from '../storage/store.js'

export interface StateAdapterParts {
  store: Store
  keys: Pick<ServiceKeys, 'secrets'>
  clock: Clock
}

/** One kind of state of one issuer. */
export class StateAdapter implements Adapter {
  constructor(
    private readonly parts: StateAdapterParts,
    /** Issuer and kind: states of two environments, or of two kinds, never stand for each other. */
    private readonly kind: string,
  ) {}

  async upsert(id: string, payload: AdapterPayload, expiresIn: number): Promise<void> {
    const state = this.sealed(id, payload, expiresIn)
    await this.parts.store.transaction('rows', (tx) => tx.putOpenIdState(state))
  }

  /** Keeps a state under a name that is free. @returns the state that has the name already; undefined where this one has it now */
  claim(id: string, payload: AdapterPayload, expiresIn: number): Promise<AdapterPayload | undefined> {
    const state = this.sealed(id, payload, expiresIn)
    // The lock of rows holds no row that is not there yet: two claims at the same time, also on two nodes, need the stronger one.
    return this.parts.store.transaction('installation', async (tx) => {
      const earlier = this.opened(await tx.openIdState(state.lookup))
      if (!earlier) await tx.putOpenIdState(state)
      return earlier
    })
  }

  async find(id: string): Promise<AdapterPayload | undefined> {
    return this.opened(await this.parts.store.read.openIdState(this.digest(id)))
  }

  async findByUid(uid: string): Promise<AdapterPayload | undefined> {
    return this.opened(await this.parts.store.read.openIdStateByUid(this.digest(`uid ${uid}`)))
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
    return store.transaction('rows', (tx) => tx.useOpenIdState(this.digest(id), clock.now()))
  }

  /**
   * Deletes it. The library reads a sign-in and then deletes it: of several requests that have read it at the same time, also on two
   * nodes, only the one that deletes it may go on to a code.
   * @throws SessionNotFound for a sign-in that another request has ended
   */
  async destroy(id: string): Promise<void> {
    const isDeleted = await this.parts.store.transaction('rows', (tx) =>
      tx.deleteOpenIdState(this.digest(id)),
    )
    if (!isDeleted && this.kind.endsWith(' Interaction'))
      throw new errors.SessionNotFound('interaction session not found')
  }

  async revokeByGrantId(grantId: string): Promise<void> {
    const digest = digestOf(`grant ${grantId}`)
    await this.parts.store.transaction('rows', (tx) => tx.deleteOpenIdGrant(digest))
  }

  private sealed(id: string, payload: AdapterPayload, expiresIn: number): OpenIdStateRecord {
    const { keys, clock } = this.parts
    const lookup = this.digest(id)
    const { uid, grantId } = payload
    return {
      lookup,
      uid: uid === undefined ? null : this.digest(`uid ${uid}`),
      grantId: grantId === undefined ? null : digestOf(`grant ${grantId}`),
      sealed: seal(keys.secrets.current, Buffer.from(JSON.stringify(payload)), contextOf(lookup)),
      expiresAt: clock.now() + expiresIn * SECOND_MS,
      usedAt: null,
    }
  }

  private opened(state: OpenIdStateRecord | undefined): AdapterPayload | undefined {
    const { keys, clock } = this.parts
    if (!state || state.expiresAt <= clock.now()) return undefined
    const text = openWithAny(keys.secrets, state.sealed, contextOf(state.lookup)).toString()
    const payload = JSON.parse(text) as AdapterPayload
    return state.usedAt === null ? payload : { ...payload, consumed: Math.floor(state.usedAt / SECOND_MS) }
  }

  private digest(name: string): Buffer {
    return digestOf(`${this.kind} ${name}`)
  }
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

function contextOf(lookup: Buffer): string {
  return `openid-state ${lookup.toString('hex')}`
}
