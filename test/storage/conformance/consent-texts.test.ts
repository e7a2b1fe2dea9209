/** Tests of how every store keeps the texts that people have agreed to. */
import { describe, expect, it } from 'vitest'
import type { ConsentTextRecord } from '../../../src/storage/records.js'
import { AT, bytes, tenant } from '../../support/records.js'
import { overStores } from '../../support/stores.js'

const consentText = (changes: Partial<ConsentTextRecord> = {}): ConsentTextRecord => ({
  tenantId: 'ten_a',
  sha256: bytes('hash 1'),
  version: '1',
  language: 'en',
  text: 'We compare your face.',
  firstAgreedAt: AT,
  ...changes,
})

overStores((stores) => {
  const read = () => stores.store.read
  const keep = (...texts: ConsentTextRecord[]) =>
    stores.store.transaction('installation', async (tx) => {
      for (const text of texts) await tx.keepConsentText(text)
    })

  describe('consent texts', () => {
    it('stay as they were first stored, one for each hash and version of a tenant', async () => {
      await stores.store.transaction('installation', async (tx) => {
        for (const name of ['a', 'b']) await tx.insertTenant(tenant(name))
      })
      const second = consentText({ version: '2', firstAgreedAt: AT + 1 })
      const other = consentText({ sha256: bytes('hash 2'), firstAgreedAt: AT + 2 })
      await keep(consentText(), second, other, consentText({ tenantId: 'ten_b' }))
      await keep(consentText({ language: 'de', firstAgreedAt: AT + 9 }))
      expect(await read().consentText('ten_a', bytes('hash 1'))).toEqual([consentText(), second])
      expect(await read().consentText('ten_a', bytes('hash 3'))).toEqual([])
      expect(await read().consentTexts('ten_a', 10)).toEqual([other, second, consentText()])
      expect(await read().consentTexts('ten_a', 1)).toEqual([other])
      expect(await read().consentTexts('ten_b', 10)).toEqual([consentText({ tenantId: 'ten_b' })])
    })
  })
})
