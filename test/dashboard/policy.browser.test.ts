/** The page of a tenant's policy, in a real browser. */

import { expect } from 'vitest'
import { COMMAND_LINE } from '../../src/audit/audited-unit-of-work.js'
import { inChromium, VIEWPORTS } from './page-tests.js'

const POLICY = {
  rules: [
    {
      name: 'large-payments',
      when: { types: ['payment'], min_amount: { EUR: '10000' } },
      require: { acr: 'urn:countersign:acr:face-active-hwk', second_approver: { within_minutes: 30 } },
    },
    { name: 'all-else', require: {} },
  ],
}

inChromium('the policy of a tenant', (it, tests) => {
  it.in(VIEWPORTS)('is explained in words while typed, put in force, listed and cleared', async (page) => {
    const tenant = await tests.running.tenant()
    await page.signInByLink(tenant, 'policy')
    await page.getByText('Contract and request decide').waitFor()
    const draft = page.getByLabel('Policy (JSON)')
    const ask = page.button('Put in force…')

    // A fault stands next to the draft, which cannot be put in force with it.
    await draft.fill('{"rules": [{"name": "a", "require": {"acr": "face"}}]}')
    await page.getByRole('alert').getByText('a requires "face"').waitFor()
    expect(await ask.isDisabled()).toBe(true)
    await page.picture('policy-fault')

    await draft.fill(JSON.stringify(POLICY, null, 2))
    const rules = page.getByRole('region', { name: 'Rules of the draft' })
    await rules.getByText('payment, of at least 10000 EUR').waitFor()
    await rules.getByText('nothing beyond the contract').waitFor()
    expect(await page.getByRole('alert').count()).toBe(0)

    // The example falls under another rule once its amount is below the bound.
    const example = page.getByRole('status', { name: 'What the draft asks of the example' })
    await example.getByText('a passkey that counts as a key in hardware').waitFor()
    await page
      .getByLabel('Example action')
      .fill('{"type":"payment","amount":"9999.99","currency":"EUR","payee":{"name":"A","account":"B"}}')
    await example.getByText('all-else').waitFor()

    await ask.click()
    const dialog = page.getByRole('dialog', { name: 'Put the draft in force?' })
    expect(await dialog.getByLabel('Only in the sandbox').isChecked()).toBe(true)
    await page.picture('policy-dialog')
    await dialog.getByRole('button', { name: 'Put in force' }).click()
    await page.getByText('It holds from the next verdict on.').waitFor()
    await page.heading(2, 'Sandbox').waitFor()
    await page.getByRole('region', { name: 'Rules of sandbox' }).getByText('large-payments').waitFor()

    await ask.click()
    await dialog.getByLabel('Only in the sandbox').uncheck()
    await dialog.getByRole('button', { name: 'Put in force' }).click()
    await page.heading(2, 'Production and sandbox').waitFor()
    const versions = page.getByRole('region', { name: 'Versions of the policy' })
    await versions.getByRole('button', { name: 'More about version' }).click()
    await page.getByRole('region', { name: /Rules of version/ }).waitFor()
    const changes = page.getByRole('region', { name: 'Changes of the policy' })
    expect(await changes.getByText('dashboard:tenant').count()).toBe(2)
    await page.inspect('policy')

    await page.button('Clear…').click()
    await page.getByRole('dialog').getByRole('button', { name: 'Clear', exact: true }).click()
    await page.getByText('Contract and request decide').waitFor()
    expect(await changes.getByText('dashboard:tenant').count()).toBe(3)

    // A version that was in force before comes back into the editor.
    await draft.fill('{}')
    await versions.getByRole('button', { name: 'Edit version' }).click()
    await expect.poll(() => draft.inputValue()).toContain('large-payments')
  })

  it('is only checked by a person who may not change it', async (page) => {
    const tenant = await tests.running.tenant()
    const { operators } = tests.running.operations
    const { password } = await operators.add('kim', 'viewer', COMMAND_LINE)
    await page.signIn(`tenants/${tenant.id}/policy`, password, 'kim')
    await page.getByLabel('Policy (JSON)').fill(JSON.stringify(POLICY))
    await page.getByRole('region', { name: 'Rules of the draft' }).waitFor()
    expect(await page.button('Put in force…').count()).toBe(0)
  })
})
