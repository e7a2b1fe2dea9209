/** Tests of capture sessions, and of the settings of the capture page, in every store. */
import { describe, expect, it } from 'vitest'
import type { CaptureSessionRecord } from '../../../src/storage/records.js'
import type { StoreTransaction } from '../../../src/storage/store.js'
import { AT, bytes, captureSession, tenant } from '../../support/records.js'
import { overStores } from '../../support/stores.js'

const HOUR_MS = 3_600_000

const session = (id: string, changes: Partial<CaptureSessionRecord> = {}) =>
  captureSession('ada', { id, environment: 'sandbox', expiresAt: AT + 100, ...changes })

overStores((stores) => {
  const read = () => stores.store.read
  const write = <T>(work: (tx: StoreTransaction) => Promise<T>) =>
    stores.store.transaction('installation', work)
  const fill = (...sessions: CaptureSessionRecord[]) =>
    write(async (tx) => {
      for (const name of ['a', 'b']) await tx.insertTenant(tenant(name))
      for (const one of sessions) await tx.putCaptureSession(one)
    })

  describe('capture sessions', () => {
    it('are found by their id and replaced as a whole', async () => {
      const changed = session('cap_1', {
        ...{ browser: bytes('browser'), phoneLink: bytes('phone'), phoneBrowser: Buffer.alloc(32) },
        ...{ binding: 'same', proof: Buffer.alloc(32, 7) },
        ...{ consentVersion: '1', consentedAt: AT + 2, attempts: 1, answered: 'chl_1', status: 'completed' },
      })
      await fill(session('cap_1'), session('cap_2'))
      expect(await read().captureSession('cap_1')).toEqual(session('cap_1'))
      await write((tx) => tx.putCaptureSession(changed))
      expect(await read().captureSession('cap_1')).toEqual(changed)
      await write((tx) => tx.putCaptureSession(session('cap_1')))
      expect(await read().captureSession('cap_1')).toEqual(session('cap_1'))
      expect(await read().captureSession('cap_2')).toEqual(session('cap_2'))
      expect(await read().captureSession('cap_3')).toBeUndefined()
    })

    it('cannot exist without their tenant', async () => {
      await fill()
      const stray = session('cap_1', { tenantId: 'ten_nobody' })
      await expect(write((tx) => tx.putCaptureSession(stray))).rejects.toThrow()
      expect(await read().captureSession('cap_1')).toBeUndefined()
    })

    it('are deleted one hour after their end', async () => {
      await fill(session('cap_1'), session('cap_2', { expiresAt: AT + 101 }))
      const expire = (now: number) => write((tx) => tx.deleteExpired(now))
      await expire(AT + HOUR_MS + 99)
      expect(await read().captureSession('cap_1')).toBeDefined()
      await expire(AT + HOUR_MS + 100)
      expect(await read().captureSession('cap_1')).toBeUndefined()
      expect(await read().captureSession('cap_2')).toBeDefined()
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
        (await read().unreportedExpiredCaptureSessions(AT + 9, limit)).map(({ id }) => id)
      expect(await found(10)).toEqual(['cap_first', 'cap_later'])
      expect(await found(1)).toEqual(['cap_first'])
    })

    it.each([
      ['their user', (tx: StoreTransaction) => tx.eraseSubject(bytes('ada'))],
      ['their tenant', (tx: StoreTransaction) => tx.closeTenant('ten_a', AT + 2)],
    ])('are deleted with %s, with or without a reference, and no others are', async (_, end) => {
      await fill(session('cap_1'), session('cap_2', { tenantId: 'ten_b', blindIndex: bytes('eve') }))
      await write(async (tx) => void (await end(tx)))
      expect(await read().captureSession('cap_1')).toBeUndefined()
      expect(await read().captureSession('cap_2')).toBeDefined()
    })
  })

  it('stores the settings of the capture page until they are set to null or the tenant is deleted', async () => {
    await fill()
    await write((tx) => tx.setCapturePage('ten_a', '{"name":"ä"}'))
    expect(await read().tenantById('ten_a')).toEqual(tenant('a', { capturePage: '{"name":"ä"}' }))
    expect(await read().tenantById('ten_b')).toEqual(tenant('b'))
    await write((tx) => tx.setCapturePage('ten_a', null))
    expect(await read().tenantById('ten_a')).toEqual(tenant('a'))
    await write(async (tx) => {
      await tx.setCapturePage('ten_a', '{}')
      await tx.closeTenant('ten_a', AT + 1)
    })
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
        await tx.putCaptureLogo(one)
    })
    expect(await read().captureLogo('ten_a')).toEqual(logo('a', 'second'))
    await write((tx) => tx.closeTenant('ten_a', AT + 1))
    expect(await read().captureLogo('ten_a')).toBeUndefined()
    expect(await read().captureLogo('ten_b')).toEqual(logo('b', 'other'))
    await write((tx) => tx.deleteCaptureLogo('ten_b'))
    expect(await read().captureLogo('ten_b')).toBeUndefined()
  })
})
