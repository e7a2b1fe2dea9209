/** Seals every sealed row of the database under the present working keys, batch by batch, while services run. */
import { dataKeyWrapping } from '../crypto/epoch-key.js'
import { reseal, type SealingKey } from '../crypto/sealed-box.js'
import type { ServiceKeys } from '../crypto/service-keys.js'
import type { SealedKind } from '../storage/records.js'
import type { Store } from '../storage/store.js'

/** Rows of one transaction: other writers wait while it runs. */
const BATCH = 500

const KINDS: Array<{ kind: SealedKind; keyOf: (keys: ServiceKeys) => SealingKey }> = [
  { kind: 'subject', keyOf: dataKeyWrapping },
  { kind: 'signing_secret', keyOf: ({ secrets }) => secrets },
  { kind: 'second_factor', keyOf: ({ secrets }) => secrets },
  { kind: 'verdict_key', keyOf: ({ secrets }) => secrets },
  { kind: 'openid_key', keyOf: ({ secrets }) => secrets },
  { kind: 'openid_client', keyOf: ({ secrets }) => secrets },
  { kind: 'idempotency', keyOf: ({ idempotency }) => idempotency },
  { kind: 'webhook_delivery', keyOf: ({ idempotency }) => idempotency },
]

/** @param done tables that are finished @param label table that is being sealed */
export type ResealProgress = (done: number, total: number, label: string) => void

/** Seals the rows again that are not under the current keys yet. A row that is, is left as it is, so that a repeated call is cheap. */
export async function resealRows(store: Store, keys: ServiceKeys, onProgress: ResealProgress): Promise<void> {
  for (const [index, { kind, keyOf }] of KINDS.entries()) {
    onProgress(index, KINDS.length, kind)
    for (let after = ''; ; ) {
      const last = await store.transaction('installation', async (tx) => {
        const rows = await tx.sealedRows(kind, after, BATCH)
        for (const { id, sealed } of rows) {
          const resealed = reseal(keyOf(keys), sealed, id)
          if (resealed) await tx.putSealed(kind, { id, sealed: resealed })
        }
        return rows.length < BATCH ? null : rows.at(-1)!.id
      })
      if (last === null) break
      after = last
    }
  }
  onProgress(KINDS.length, KINDS.length, 'done')
}
