/** Where `oidc-provider` keeps what it must remember between two requests: sealed rows of the database, under digests of their names. */
import { createHash } from 'node:crypto'
import type { Adapter, AdapterPayload } from 'oidc-provider'
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
    const { store, keys, clock } = this.parts
    const lookup = this.digest(id)
    const { uid, grantId } = payload
    const state: OpenIdStateRecord = {
      lookup,
      uid: uid === undefined ? null : this.digest(`uid ${uid}`),
      grantId: grantId === undefined ? null : digestOf(`grant ${grantId}`),
      sealed: seal(keys.secrets.current, Buffer.from(JSON.stringify(payload)), contextOf(lookup)),
      expiresAt: clock.now() + expiresIn * SECOND_MS,
      usedAt: null,
    }
    await store.transaction('installation', (tx) => tx.putOpenIdState(state))
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

  async consume(id: string): Promise<void> {
    const { store, clock } = this.parts
    await store.transaction('installation', (tx) => tx.useOpenIdState(this.digest(id), clock.now()))
  }

  async destroy(id: string): Promise<void> {
    await this.parts.store.transaction('installation', (tx) => tx.deleteOpenIdState(this.digest(id)))
  }

  async revokeByGrantId(grantId: string): Promise<void> {
    const digest = digestOf(`grant ${grantId}`)
    await this.parts.store.transaction('installation', (tx) => tx.deleteOpenIdGrant(digest))
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
