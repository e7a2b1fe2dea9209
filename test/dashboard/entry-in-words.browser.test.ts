/** The words of the audit log and of the request log about a verification, in a real browser. */
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { allowReturn, askForSession, Visitor } from '../support/capture-page.js'
import { base64, face } from '../support/faces.js'
import { plain } from '../support/images.js'
import { asserted, registered, usePasskeys } from '../support/passkeys.js'
import { setPolicy } from '../support/policies.js'
import type { TestTenant } from '../support/service.js'
import { inChromiumWith, VIEWPORTS } from './page-tests.js'

const payee = { name: 'Acme GmbH', account: 'DE89370400440532013000' }
const payment = { type: 'payment', amount: '1250.00', currency: 'EUR', payee }

inChromiumWith({ COUNTERSIGN_CAPTURE_LISTEN: '127.0.0.1:0' })(
  'a verification in the logs of the dashboard',
  (it, tests) => {
    async function obeying(tenant: TestTenant): Promise<void> {
      await setPolicy(tests.running, tenant.name, { rules: [{ name: 'everything', require: {} }] })
    }

    /** The value next to a name, among the facts of the open row. */
    const fact = (page: Page, name: string) =>
      page
        .locator('.below .facts > div')
        .filter({ has: page.getByText(name, { exact: true }) })
        .locator('dd')

    it.in(VIEWPORTS)(
      'is explained in the audit log: checks, possession, policy and signals',
      async (page) => {
        const tenant = await tests.running.tenant()
        const production = await tests.running.production(tenant)
        await usePasskeys(tests.running, tenant)
        await obeying(tenant)
        const image = base64(await face('ada'))
        await production.enroll({ user_id: 'ada', image })
        const { authenticator } = await registered(production, 'ada')
        const { status, body } = await production.verify({
          ...{ user_id: 'ada', image, action: payment },
          capture_integrity: { signals: ['virtual_camera'] },
          passkey_assertion: await asserted(production, 'ada', payment, authenticator),
        })
        expect([status, body.verdict]).toEqual([200, 'approved'])

        await page.signInByLink(tenant, 'audit?event=verify')
        await page.button('More about entry').click()
        expect(await fact(page, 'Checked').textContent()).toContain(
          'the face and a passkey (urn:countersign:acr:face-swk)',
        )
        expect(await fact(page, 'Possession').textContent()).toContain('software')
        expect(await fact(page, 'Rule').textContent()).toBe('everything')
        const signals = await fact(page, 'Signals of the capture').textContent()
        expect(signals).toContain('the name of a virtual camera')
        expect(signals).toContain('reported by the browser')
        expect(signals).toContain('none is proof')
        await page.inspect('audit-in-words')

        // The policy of the verdict is one click away.
        await fact(page, 'Policy').getByRole('link').click()
        await page
          .getByRole('region', { name: /Rules of version/ })
          .getByText('everything')
          .waitFor()
        await page.go('audit?event=policy_changed')
        await page.button('More about entry').click()
        expect(await fact(page, 'Policy in sandbox').textContent()).toContain(
          `none → ${body.policy_hash.slice(0, 12)}`,
        )
      },
    )

    it('says next to an intact chain that it could not be checked again', async (page) => {
      await page.signInByLink(await tests.running.tenant(), 'audit')
      await page.getByText('intact').waitFor()
      await page.route('**/audit/chain', (route) => route.abort())
      await page.button('Check again').click()
      await page.getByRole('alert').waitFor()
      page.tolerate('ERR_FAILED')
    })

    it('is explained in the request log of the sandbox too, with the language of the text that was shown', async (page) => {
      const tenant = await tests.running.tenant()
      await allowReturn(tests.running, tenant)
      await obeying(tenant)
      const asked = { user_id: 'ada+match', action: payment, locale: 'ja' }
      const { body } = await askForSession(tenant.sandbox, asked)
      const visitor = new Visitor(body.url)
      await visitor.open()
      await visitor.agree()
      await visitor.capture(base64(await plain()))

      await page.signInByLink(tenant, 'requests?environment=sandbox&endpoint=verify')
      await page.button('More about request').click()
      expect(await fact(page, 'Shown text').textContent()).toContain('in Japanese (ja), version')
      expect(await fact(page, 'Rule').textContent()).toBe('everything')
      await page.inspect('request-in-words')
    })
  },
)
