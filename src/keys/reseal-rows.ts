/** Seals every sealed row of the database under the present working keys, batch by batch, while services run. */
import { dataKeyWrapping } from '../crypto/epoch-key.js'
import { reseal, type SealingKey } from '../crypto/sealed-box.js'
import type { ServiceKeys } from '../crypto/service-keys.js'
import type { Store } from '../storage/store.js'
import type { ServiceSealing } from '../storage/table.js'

/** Rows of one transaction: other writers wait while it runs. */
const BATCH = 500

const KEYS: Record<ServiceSealing['key'], (keys: ServiceKeys) => SealingKey> = {
  wrapping: dataKeyWrapping,
  secrets: ({ secrets }) => secrets,
  idempotency: ({ idempotency }) => idempotency,
}

/** @param done tables that are finished @param label table that is being sealed */
export type ResealProgress = (done: number, total: number, label: string) => void

/** Seals the rows again that are not under the current keys yet. A row that is, is left as it is, so that a repeated call is cheap. */
export async function resealRows(store: Store, keys: ServiceKeys, onProgress: ResealProgress): Promise<void> {
  const tables = store.tables.flatMap(({ name, sealing }) => (sealing ? [{ name, key: sealing.key }] : []))
  for (const [index, { name, key }] of tables.entries()) {
    onProgress(index, tables.length, name)
    for (let after = ''; ; ) {
      const last = await store.transaction('installation', async (tx) => {
        const rows = await tx.sealedRows(name, after, BATCH)
        for (const { id, sealed } of rows) {
          const resealed = reseal(KEYS[key](keys), sealed, id)
          if (resealed) await tx.putSealed(name, { id, sealed: resealed })
        }
        return rows.length < BATCH ? null : rows.at(-1)!.id
      })
      if (last === null) break
      after = last
    }
  }
  onProgress(tables.length, tables.length, 'done')
}
