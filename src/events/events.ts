/**
 * Events of users: code says what has happened in the transaction that makes it true, and features that subscribe store in the same
 * transaction what they do about it. Without a subscriber an event costs nothing.
 */
import type { Environment } from '../config/config.js'
import type { StoreReader, StoreTransaction } from '../storage/store.js'
import type { Subject } from '../users/template-vault.js'
import type { EventType } from './event-types.js'

export interface EventKind {
  environment: Environment
  type: EventType
}

/** Something that happened to a tenant's user or capture session. */
export interface DomainEvent extends EventKind {
  tenantId: string
  data: Record<string, unknown>
  /** The enrolled user whom the event is about; what is kept of the event is erased with that user. */
  subject?: { blindIndex: Buffer; id: string; dataKey: Buffer }
}

/** An event about an enrolled user. @param data with `user_id` */
export function eventAbout(subject: Subject, type: EventType, data: DomainEvent['data']): DomainEvent {
  const { id, tenantId, environment, blindIndex } = subject.record
  return { tenantId, environment, type, data, subject: { blindIndex, id, dataKey: subject.dataKey } }
}

/** The receivers of one tenant's events, as a transaction has read them. */
export interface Audience {
  /** Whether somebody hears of events of this kind. */
  hears(event: EventKind): boolean
  tell(tx: StoreTransaction, event: DomainEvent): Promise<void>
}

export interface Subscriber {
  audienceOf(read: StoreReader, tenantId: string): Promise<Audience>
  /** Runs in the transaction that ends the tenant's suspension. */
  onResume(tx: StoreTransaction, tenantId: string): Promise<void>
}

export class Events implements Subscriber {
  constructor(private readonly subscribers: readonly Subscriber[]) {}

  /** Reads who hears of them, which a transaction may do together with other reads. */
  async audienceOf(read: StoreReader, tenantId: string): Promise<Audience> {
    const audiences = await Promise.all(this.subscribers.map((one) => one.audienceOf(read, tenantId)))
    return {
      hears: (event) => audiences.some((one) => one.hears(event)),
      async tell(tx, event) {
        for (const one of audiences) await one.tell(tx, event)
      },
    }
  }

  async put(tx: StoreTransaction, event: DomainEvent): Promise<void> {
    await (await this.audienceOf(tx, event.tenantId)).tell(tx, event)
  }

  async onResume(tx: StoreTransaction, tenantId: string): Promise<void> {
    for (const one of this.subscribers) await one.onResume(tx, tenantId)
  }
}
