/** Tests of how every store keeps capture sessions, the settings and the logo of the capture page, and the texts that people have agreed to. */
import { describe, expect, it } from 'vitest'
import {
  type CaptureSessionRecord,
  type ConsentTextRecord,
  capturePageReader,
  capturePageWriter,
  captureSessionReader,
  captureSessionWriter,
} from '../../../src/features/capture-sessions/capture-tables.js'
import { ownTextReader } from '../../../src/features/capture-sessions/consent-texts.js'
import type { OwnConsentTextRecord } from '../../../src/storage/records.js'
import type { StoreTransaction } from '../../../src/storage/store.js'
import { AT, bytes, captureSession, subject, tenant } from '../../support/records.js'
import { overStores } from '../../support/stores.js'

const HOUR_MS = 3_600_000

const session = (id: string, changes: Partial<CaptureSessionRecord> = {}) =>
  captureSession('ada', { id, environment: 'sandbox', expiresAt: AT + 100, ...changes })

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
  const sessions = () => stores.read().statements(captureSessionReader)
  const page = () => stores.read().statements(capturePageReader)
  const ownTexts = () => stores.read().statements(ownTextReader)
  const writingSession = stores.writing(captureSessionWriter)
  const writingPage = stores.writing(capturePageWriter)
  const { read, write } = stores
  const put = (session: CaptureSessionRecord) => writingSession.put(session)
  const keep = (...texts: ConsentTextRecord[]) =>
    write(async (tx) => {
      for (const text of texts) await tx.statements(capturePageWriter).keepText(text)
    })
  const fill = (...sessions: CaptureSessionRecord[]) =>
    write(async (tx) => {
      for (const name of ['a', 'b']) await tx.insertTenant(tenant(name))
      for (const one of sessions) await tx.statements(captureSessionWriter).put(one)
    })

  describe('capture sessions', () => {
    it('are found by their id and replaced as a whole', async () => {
      const changed = session('cap_1', {
        ...{ browser: bytes('browser'), phoneLink: bytes('phone'), phoneBrowser: Buffer.alloc(32) },
        ...{ binding: 'same', proof: Buffer.alloc(32, 7) },
        ...{ consentVersion: '1', consentedAt: AT + 2, attempts: 1, answered: 'chl_1', status: 'completed' },
      })
      await fill(session('cap_1'), session('cap_2'))
      expect(await sessions().one('cap_1')).toEqual(session('cap_1'))
      await put(changed)
      expect(await sessions().one('cap_1')).toEqual(changed)
      await put(session('cap_1'))
      expect(await sessions().one('cap_1')).toEqual(session('cap_1'))
      expect(await sessions().one('cap_2')).toEqual(session('cap_2'))
      expect(await sessions().one('cap_3')).toBeUndefined()
    })

    it('cannot exist without their tenant', async () => {
      await fill()
      const stray = session('cap_1', { tenantId: 'ten_nobody' })
      await expect(put(stray)).rejects.toThrow()
      expect(await sessions().one('cap_1')).toBeUndefined()
    })

    it('are deleted one hour after their end', async () => {
      await fill(session('cap_1'), session('cap_2', { expiresAt: AT + 101 }))
      const expire = (now: number) => write((tx) => tx.deleteExpired(now))
      await expire(AT + HOUR_MS + 99)
      expect(await sessions().one('cap_1')).toBeDefined()
      await expire(AT + HOUR_MS + 100)
      expect(await sessions().one('cap_1')).toBeUndefined()
      expect(await sessions().one('cap_2')).toBeDefined()
    })

    it('are listed as expired while they are open and their expiry was not reported', async () => {
      await fill(
        session('cap_later', { expiresAt: AT + 9 }),
        session('cap_first', { expiresAt: AT + 8 }),
        session('cap_open', { expiresAt: AT + 10 }),
        session('cap_over', { expiresAt: AT, status: 'completed' }),
        session('cap_told', { expiresAt: AT, expiryReportedAt: AT + 1 }),
      )
      const found = async (limit: number) =>
        (await sessions().unreportedExpired(AT + 9, limit)).map(({ id }) => id)
      expect(await found(10)).toEqual(['cap_first', 'cap_later'])
      expect(await found(1)).toEqual(['cap_first'])
    })

    it.each([
      ['their user', (tx: StoreTransaction) => tx.eraseSubject(bytes('ada'))],
      ['their tenant', (tx: StoreTransaction) => tx.closeTenant('ten_a', AT + 2)],
    ])('are deleted with %s, with or without a reference, and no others are', async (_, end) => {
      await fill(session('cap_1'), session('cap_2', { tenantId: 'ten_b', blindIndex: bytes('eve') }))
      await write(async (tx) => void (await end(tx)))
      expect(await sessions().one('cap_1')).toBeUndefined()
      expect(await sessions().one('cap_2')).toBeDefined()
    })
  })

  it('stores the settings of the capture page until the tenant is deleted', async () => {
    await fill()
    await writingPage.setSettings('ten_a', '{"name":"ä"}')
    expect(await read().tenantById('ten_a')).toEqual(tenant('a', { capturePage: '{"name":"ä"}' }))
    expect(await read().tenantById('ten_b')).toEqual(tenant('b'))
    await write((tx) => tx.closeTenant('ten_a', AT + 1))
    expect(await read().tenantById('ten_a')).toEqual(tenant('a', { deletedAt: AT + 1 }))
  })

  it('replaces the logo of a tenant, and deletes it with the tenant', async () => {
    await fill()
    const logo = (name: string, image: string) => ({
      tenantId: `ten_${name}`,
      sha256: bytes(image),
      image: bytes(`picture ${image}`),
    })
    await write(async (tx) => {
      for (const one of [logo('a', 'first'), logo('a', 'second'), logo('b', 'other')])
        await tx.statements(capturePageWriter).putLogo(one)
    })
    expect(await page().logo('ten_a')).toEqual(logo('a', 'second'))
    await write((tx) => tx.closeTenant('ten_a', AT + 1))
    expect(await page().logo('ten_a')).toBeUndefined()
    expect(await page().logo('ten_b')).toEqual(logo('b', 'other'))
    await writingPage.deleteLogo('ten_b')
    expect(await page().logo('ten_b')).toBeUndefined()
  })

  describe('consent texts', () => {
    it('stay as they were first stored, one for each hash and version of a tenant', async () => {
      await fill()
      const second = consentText({ version: '2', firstAgreedAt: AT + 1 })
      const other = consentText({ sha256: bytes('hash 2'), firstAgreedAt: AT + 2 })
      await keep(consentText(), second, other, consentText({ tenantId: 'ten_b' }))
      await keep(consentText({ language: 'de', firstAgreedAt: AT + 9 }))
      expect(await page().textsWith('ten_a', bytes('hash 1'))).toEqual([consentText(), second])
      expect(await page().textsWith('ten_a', bytes('hash 3'))).toEqual([])
      expect(await page().texts('ten_a', 10)).toEqual([other, second, consentText()])
      expect(await page().texts('ten_a', 1)).toEqual([other])
      expect(await page().texts('ten_b', 10)).toEqual([consentText({ tenantId: 'ten_b' })])
    })

    it('stay for one user as they were first stored, are found by their hash, and are deleted with the user', async () => {
      const later = ownText('eve', { firstAgreedAt: AT + 1 })
      const second = ownText('ada', { version: '2', firstAgreedAt: AT + 2 })
      await write(async (tx) => {
        await tx.insertTenant(tenant('a'))
        for (const name of ['ada', 'eve']) await tx.insertSubject(subject(name))
        for (const text of [later, ownText('ada'), second, ownText('ada', { language: 'de' })])
          await tx.keepOwnConsentText(text)
      })
      const found = async (hash = 'hash 1', tenantId = 'ten_a') => ownTexts().first(tenantId, bytes(hash))
      expect(await found()).toEqual({ subject: subject('ada'), text: ownText('ada') })
      expect([await found('hash 2'), await found('hash 1', 'ten_b')]).toEqual([undefined, undefined])
      expect(await read().ownConsentTextsOf('sub_ada')).toEqual([ownText('ada'), second])
      await write((tx) => tx.eraseSubject(subject('ada').blindIndex))
      expect(await read().ownConsentTextsOf('sub_ada')).toEqual([])
      expect(await found()).toEqual({ subject: subject('eve'), text: later })
    })
  })
})
