/**
 * Draws references of a tenant's users at random and opens them in memory, so that strangers can be compared: page by page, no faster than asked for,
 * and recorded in the audit log before the first one is opened.
 */
import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Actor, AuditedUnitOfWork } from '../audit/audited-unit-of-work.js'
import { SECOND_MS } from '../lib/clock.js'
import type { ReferenceRecord, SubjectRecord, TenantRecord } from '../storage/records.js'
import type { Store } from '../storage/store.js'
import type { TemplateVault } from '../users/template-vault.js'

export interface SampleOrder {
  /** Id of the model whose references are drawn. References of other models are never compared with them. */
  model: string
  tenants: readonly TenantRecord[]
  /** Largest number of users, of all tenants together. */
  people: number
  /** Largest number of references that are opened in a second. */
  perSecond: number
  onProgress: (done: number, total: number) => void
}

/** Opened references. Nothing but memory ever holds them. */
export interface UserSample {
  embeddings: Float32Array[]
  /** Tenant of each user, as an index into the tenants of the order; users of one tenant stand together. */
  tenantOf: number[]
  /** Number of photos that the references were made of. */
  photos: number
  /** Number of references that were left out, because their embedding was deleted with their model pack. */
  dropped: number
  /** Overwrites the embeddings. */
  wipe(): void
}

interface Drawn {
  subject: SubjectRecord
  reference: ReferenceRecord
}

/** References of one read. */
const PAGE = 100
/** Length of a blind index, in bytes. */
const INDEX_BYTES = 32

export class UserSamples {
  constructor(private readonly parts: { store: Store; audited: AuditedUnitOfWork; vault: TemplateVault }) {}

  /** Calls `work` with the sample, and wipes it when `work` has ended. */
  async use<T>(order: SampleOrder, actor: Actor, work: (sample: UserSample) => Promise<T> | T): Promise<T> {
    const sample: UserSample = {
      embeddings: [],
      tenantOf: [],
      photos: 0,
      dropped: 0,
      wipe() {
        for (const embedding of this.embeddings) embedding.fill(0)
      },
    }
    try {
      const shares = await this.sharesOf(order)
      const total = shares.reduce((sum, share) => sum + share, 0)
      for (const [tenant, share] of shares.entries())
        if (share > 1) await this.draw(order, tenant, share, total, actor, sample)
      return await work(sample)
    } finally {
      sample.wipe()
    }
  }

  /** Divides the number of people among the tenants: all users of a small tenant, and as many of each of the larger ones. */
  private async sharesOf({ tenants, people }: SampleOrder): Promise<number[]> {
    const { read } = this.parts.store
    const counts = await Promise.all(tenants.map(async ({ id }) => (await read.referencesOf(id)).production))
    const shares = counts.map(() => 0)
    const ascending = [...counts.keys()].sort((a, b) => counts[a]! - counts[b]!)
    let left = people
    for (const [index, tenant] of ascending.entries()) {
      shares[tenant] = Math.min(counts[tenant]!, Math.floor(left / (ascending.length - index)))
      left -= shares[tenant]
    }
    return shares
  }

  /**
   * Draws users of one tenant. A blind index is a keyed hash of the user's id, so that users who follow each other by blind index from a random place are a
   * random sample.
   */
  private async draw(
    { model, tenants, perSecond, onProgress }: SampleOrder,
    tenant: number,
    share: number,
    total: number,
    actor: Actor,
    sample: UserSample,
  ): Promise<void> {
    const { audited, vault } = this.parts
    const { id } = tenants[tenant]!
    await audited.record(id, actor, { event: 'users_compared', model, users: share })
    let drawn = 0
    for await (const page of this.pages(id, model)) {
      for (const { subject, reference } of page) {
        if (drawn === share) break
        const content = vault.openReferenceOf(subject, reference)
        if (content === null) {
          sample.dropped++
          continue
        }
        sample.embeddings.push(content.embedding)
        sample.tenantOf.push(tenant)
        sample.photos += content.photoCount
        drawn++
      }
      onProgress(sample.embeddings.length, total)
      if (drawn === share) return
      await sleep((page.length / perSecond) * SECOND_MS)
    }
  }

  /** The references of all users, from a random place to the last one, and from the first one to that place. */
  private async *pages(tenantId: string, model: string): AsyncGenerator<Drawn[]> {
    const start = randomBytes(INDEX_BYTES)
    const arcs = [
      { first: start, last: null },
      { first: Buffer.alloc(0), last: start },
    ]
    for (const { first, last } of arcs)
      for (let after = first; ; ) {
        const page = await this.parts.store.read.referencesAfter(tenantId, 'production', model, after, PAGE)
        const inside = last ? page.filter(({ subject }) => subject.blindIndex.compare(last) <= 0) : page
        if (inside.length > 0) yield inside
        if (inside.length < PAGE) break
        after = Buffer.from(inside.at(-1)!.subject.blindIndex)
      }
  }
}
