/**
 * Enrolls many users at once: writes rows into the database of a stopped service, through the product's own storage.
 */

import { loadConfig } from '../../src/app/configuration.js'
import { openCore } from '../../src/app/core.js'
import { systemClock } from '../../src/lib/clock.js'
import { TemplateVault } from '../../src/users/template-vault.js'
import { BENCH_TENANT } from './service-process.js'

/** Number of users whose rows share a commit. */
const GROUP = 2000

/** Enrolls `user-<from>` … `user-<to - 1>` with the reference of `user-0`, which must exist already. */
export async function copyReference(
  dataDir: string,
  { from, to }: { from: number; to: number },
): Promise<void> {
  const { store, keys, tenancy } = await openCore(loadConfig({ COUNTERSIGN_DATA_DIR: dataDir }))
  try {
    const vault = new TemplateVault(keys, systemClock)
    const { id: tenantId } = await tenancy.find(BENCH_TENANT)
    const blindIndex = (user: string) => vault.blindIndex(tenantId, 'production', user)
    const model = await vault.find(store.read, blindIndex('user-0'), 'user-0')
    if (!model?.reference) throw new Error(`user-0 is not enrolled in ${dataDir}`)
    const content = vault.openReference(model, model.reference)
    const { model: modelId } = model.reference
    for (let begin = from; begin < to; begin += GROUP) {
      const end = Math.min(to, begin + GROUP)
      await store.transaction('installation', async (tx) => {
        for (let i = begin; i < end; i++) {
          const user = `user-${i}`
          const subject = vault.create(tenantId, 'production', blindIndex(user), user)
          await tx.insertSubject(subject.record)
          await vault.putReference(tx, subject, modelId, content)
        }
      })
    }
  } finally {
    await store.close()
  }
}
