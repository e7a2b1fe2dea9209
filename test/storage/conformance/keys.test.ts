/** Tests of the service's own keys in every store, and of everything that is sealed under them. */

import { describe, expect, it } from 'vitest'
import { accountWriter } from '../../../src/admin/accounts/account-statements.js'
import { tablesOf } from '../../../src/features/index.js'
import { OPENID_KEYS, openIdClientWriter } from '../../../src/features/openid/openid-tables.js'
import { VERDICT_KEYS } from '../../../src/features/public-verdicts/signing-key-table.js'
import { webhookReader, webhookWriter } from '../../../src/features/webhooks/webhook-tables.js'
import { tablesWith } from '../../../src/storage/endings.js'
import {
  AT,
  bytes,
  DELIVERED,
  delivery,
  endpoint,
  keptResponse,
  signingSecret,
  subject,
  tenant,
  verdictKey,
} from '../../support/records.js'
import { overStores } from '../../support/stores.js'

overStores((stores) => {
  const { read, write } = stores

  it('keeps one keyring for each master key, oldest first, which the next one replaces', async () => {
    const keyring = (masterKeyId: string, createdAt: number, generation = 0) => ({
      masterKeyId,
      sealed: bytes(`sealed under ${masterKeyId}`),
      createdAt,
      generation,
    })
    expect(await read().keyrings()).toEqual([])
    await write(async (tx) => {
      await tx.putKeyring(keyring('new', AT + 2))
      await tx.putKeyring(keyring('old', AT))
      await tx.putKeyring(keyring('middle', AT + 1))
    })
    expect((await read().keyrings()).map(({ masterKeyId }) => masterKeyId)).toEqual(['old', 'middle', 'new'])
    await write(async (tx) => {
      await tx.putKeyring({ ...keyring('old', AT + 5, 3), sealed: bytes('anew') })
      await tx.deleteKeyring('middle')
      await tx.deleteKeyring('unknown')
    })
    expect(await read().keyrings()).toEqual([
      keyring('new', AT + 2),
      { masterKeyId: 'old', sealed: bytes('anew'), createdAt: AT + 5, generation: 3 },
    ])
  })

  describe('sealed rows', () => {
    /** Inserts three rows of each kind, in no order, and rows that are sealed under a user's key. */
    const fill = () =>
      write(async (tx) => {
        await tx.insertTenant(tenant('a'))
        await tx.statements(webhookWriter).insertEndpoint(endpoint('end'))
        for (const [i, id] of ['b', 'C', 'a'].entries()) {
          await tx.insertSubject(subject(id))
          await tx.insertSigningSecret(
            signingSecret(`kid_${id}`, { validUntil: i === 0 ? null : AT + 100 + i }),
          )
          await tx.statements(VERDICT_KEYS.writer).insert(verdictKey(`vky_${id}`))
          await tx.statements(OPENID_KEYS.writer).insert(verdictKey(`oik_${id}`))
          await tx.statements(openIdClientWriter).put({
            ...{ id: `oic_${id}`, tenantId: 'ten_a', environment: 'sandbox', keyId: 'key_a' },
            ...{ sealed: bytes(`sealed oic_${id}`), createdAt: AT },
          })
          await tx.insertIdempotencyRecord(keptResponse(`scope ${id}`, { subjectId: null }))
          await tx.statements(webhookWriter).insertDelivery(delivery(`del_${id}`, 'end'))
          await tx.statements(accountWriter).putSecondFactor({
            ...{ id: `opr_${id}`, sealed: bytes(`sealed opr_${id}`) },
            ...{ recovery: '[]', lastStep: null, enrolledAt: AT },
          })
        }
        await tx.insertIdempotencyRecord(keptResponse("a user's"))
        await tx.statements(webhookWriter).insertDelivery(delivery("a user's", 'end', { subjectId: 'sub_a' }))
        await tx
          .statements(webhookWriter)
          .insertDelivery(delivery('forgotten', 'end', { ...DELIVERED, sealed: null }))
      })
    const hex = (text: string) => bytes(text).toString('hex')
    /** The sealed value of each row by its id. */
    const each = (idOf: (id: string) => string, sealed = (id: string) => `sealed ${idOf(id)}`) =>
      Object.fromEntries(['a', 'b', 'C'].map((id) => [idOf(id), sealed(id)]))
    const under = (prefix: string) => each((id) => `${prefix}_${id}`)
    const EXPECTED: Record<string, Record<string, string>> = {
      subject: each(
        (id) => `sub_${id}`,
        (id) => `wrapped key of ${id}`,
      ),
      ...{ signing_secret: under('kid'), verdict_key: under('vky'), openid_key: under('oik') },
      ...{ openid_client: under('oic'), second_factor: under('opr'), webhook_delivery: under('del') },
      idempotency: each(
        (id) => hex(`scope ${id}`),
        (id) => `sealed response of scope ${id}`,
      ),
    }
    const KINDS = tablesWith(tablesOf())
      .filter(({ sealing }) => sealing)
      .map(({ name }) => name)

    /** Reads all rows of a kind page by page. */
    async function pages(kind: string, limit: number): Promise<Record<string, string>> {
      const found: Record<string, string> = {}
      for (let after = ''; ; ) {
        const page = await read().sealedRows(kind, after, limit)
        expect(page.length).toBeLessThanOrEqual(limit)
        for (const { id, sealed } of page) {
          expect(found).not.toHaveProperty(id)
          found[id] = sealed.toString()
        }
        if (page.length === 0) return found
        after = page.at(-1)!.id
      }
    }

    it('are all rows sealed under a working key, each once for any page size', async () => {
      await fill()
      for (const kind of KINDS)
        for (const limit of [1, 2, 3, 10]) expect(await pages(kind, limit), kind).toEqual(EXPECTED[kind])
    })

    it('can be replaced one by one', async () => {
      await fill()
      for (const kind of KINDS) {
        const id = Object.keys(EXPECTED[kind]!)[1]!
        await write((tx) => tx.putSealed(kind, { id, sealed: bytes('anew') }))
        expect(await pages(kind, 10), kind).toEqual({ ...EXPECTED[kind], [id]: 'anew' })
      }
    })

    it('do not return when they were deleted meanwhile', async () => {
      await fill()
      for (const kind of KINDS)
        await write((tx) => tx.putSealed(kind, { id: hex('gone'), sealed: bytes('anew') }))
      await write((tx) => tx.putSealed('webhook_delivery', { id: 'forgotten', sealed: bytes('anew') }))
      for (const kind of KINDS) expect(await pages(kind, 10), kind).toEqual(EXPECTED[kind])
      expect((await read().statements(webhookReader).delivery('forgotten'))?.sealed).toBeNull()
    })
  })
})
