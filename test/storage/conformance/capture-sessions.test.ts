/** What every store does with sessions of the hosted capture page, and with what that page is for a tenant. */
import { describe, expect, it } from 'vitest'
import { HOUR_MS } from '../../../src/clock.js'
import type { StoreTransaction } from '../../../src/storage/store.js'
import { AT, bytes, captureSession, tenant } from '../../support/records.js'
import { overStores } from '../../support/stores.js'

overStores((stores) => {
  const read = () => stores.store.read
  const write: typeof stores.store.transaction = (work) => stores.store.transaction(work)

  describe('a capture session', () => {
    it('comes back as it was written, and is replaced whole', async () => {
      const changed = captureSession('ada', {
        purpose: 'enroll',
        sealed: bytes('sealed anew'),
        browser: bytes('browser'),
        phoneLink: bytes('phone'),
        phoneBrowser: bytes('its browser'),
        consentVersion: '2026-11',
        consentedAt: AT + 1,
        attempts: 2,
        answered: 'chl_1',
        status: 'completed',
      })
      await write(async (tx) => {
        await tx.insertTenant(tenant('a'))
        await tx.putCaptureSession(captureSession('ada'))
      })
      expect(await read().captureSession('cap_ada')).toEqual(captureSession('ada'))
      await write((tx) => tx.putCaptureSession(changed))
      expect(await read().captureSession('cap_ada')).toEqual(changed)
      expect(await read().captureSession('cap_eve')).toBeUndefined()
    })

    it('belongs to a tenant', async () => {
      await expect(write((tx) => tx.putCaptureSession(captureSession('ada')))).rejects.toThrow()
    })

    it('is changed by one transaction after the other, over two openings too', async () => {
      await write(async (tx) => {
        await tx.insertTenant(tenant('a'))
        await tx.putCaptureSession(captureSession('ada'))
      })
      const both = [stores.store, await stores.open()]
      await Promise.all(
        Array.from({ length: 16 }, (_, i) =>
          both[i % 2]!.transaction(async (tx) => {
            const session = (await tx.captureSession('cap_ada'))!
            await tx.putCaptureSession({ ...session, attempts: session.attempts + 1 })
          }),
        ),
      )
      expect((await read().captureSession('cap_ada'))?.attempts).toBe(16)
    })

    it('stays for an hour after its end', async () => {
      const expire = (now: number) => write((tx) => tx.deleteExpired(now, 0, { minute: 0, hour: 0 }))
      await write(async (tx) => {
        await tx.insertTenant(tenant('a'))
        await tx.putCaptureSession(captureSession('ada', { expiresAt: AT }))
      })
      await expire(AT + HOUR_MS - 1)
      expect(await read().captureSession('cap_ada')).toBeDefined()
      await expire(AT + HOUR_MS)
      expect(await read().captureSession('cap_ada')).toBeUndefined()
    })

    it.each([
      ['its user', async (tx: StoreTransaction) => void (await tx.eraseSubject(bytes('ada')))],
      ['its tenant', (tx: StoreTransaction) => tx.closeTenant('ten_a', AT)],
    ])('goes with %s, and leaves that of others', async (_, end) => {
      await write(async (tx) => {
        for (const name of ['a', 'b']) await tx.insertTenant(tenant(name))
        await tx.putCaptureSession(captureSession('ada'))
        await tx.putCaptureSession(captureSession('eve', { tenantId: 'ten_b' }))
      })
      await write(end)
      expect(await read().captureSession('cap_ada')).toBeUndefined()
      expect(await read().captureSession('cap_eve')).toBeDefined()
    })
  })

  describe('the capture page of a tenant', () => {
    it('is set, unset, and gone with the tenant', async () => {
      const page = async () => (await read().tenantById('ten_a'))?.capturePage
      await write((tx) => tx.insertTenant(tenant('a')))
      expect(await page()).toBeNull()
      await write((tx) => tx.setCapturePage('ten_a', '{}'))
      expect(await page()).toBe('{}')
      await write((tx) => tx.setCapturePage('ten_a', null))
      expect(await page()).toBeNull()
      await write((tx) => tx.setCapturePage('ten_a', '{}'))
      await write((tx) => tx.closeTenant('ten_a', AT))
      expect(await page()).toBeNull()
    })
  })
})
