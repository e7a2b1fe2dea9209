/** Tests of how every store keeps the texts that people have agreed to. */
import { describe, expect, it } from 'vitest'
import type { ConsentTextRecord, OwnConsentTextRecord } from '../../../src/storage/records.js'
import { AT, bytes, subject, tenant } from '../../support/records.js'
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

const ownText = (name: string, changes: Partial<OwnConsentTextRecord> = {}): OwnConsentTextRecord => ({
  ...{ tenantId: 'ten_a', subjectId: `sub_${name}`, sha256: bytes('hash 1'), version: '1', language: 'en' },
  ...{ sealed: bytes(`sealed for ${name}`), firstAgreedAt: AT },
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

    it('stay for one user as they were first stored, are found by their hash, and are deleted with the user', async () => {
      const later = ownText('eve', { firstAgreedAt: AT + 1 })
      const second = ownText('ada', { version: '2', firstAgreedAt: AT + 2 })
      await stores.store.transaction('installation', async (tx) => {
        await tx.insertTenant(tenant('a'))
        for (const name of ['ada', 'eve']) await tx.insertSubject(subject(name))
        for (const text of [later, ownText('ada'), second, ownText('ada', { language: 'de' })])
          await tx.keepOwnConsentText(text)
      })
      const found = async (hash = 'hash 1', tenantId = 'ten_a') =>
        read().ownConsentText(tenantId, bytes(hash))
      expect(await found()).toEqual({ subject: subject('ada'), text: ownText('ada') })
      expect([await found('hash 2'), await found('hash 1', 'ten_b')]).toEqual([undefined, undefined])
      expect(await read().ownConsentTextsOf('sub_ada')).toEqual([ownText('ada'), second])
      await stores.store.transaction('installation', (tx) => tx.eraseSubject(subject('ada').blindIndex))
      expect(await read().ownConsentTextsOf('sub_ada')).toEqual([])
      expect(await found()).toEqual({ subject: subject('eve'), text: later })
    })
  })
})
