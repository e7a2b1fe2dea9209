/** The pages of passkeys in a real browser: a tenant's settings, and the passkeys and the export of a user. */
import { readFileSync } from 'node:fs'
import { expect } from 'vitest'
import { base64, face } from '../support/faces.js'
import { asserted, ORIGIN, RP_ID, registered } from '../support/passkeys.js'
import { inChromium, VIEWPORTS } from './page-tests.js'

inChromium('passkeys at the dashboard', (it, tests) => {
  it.in(VIEWPORTS)('are set up, listed with a suspicious counter, exported and revoked', async (page) => {
    page.tolerate('400')
    const tenant = await tests.running.tenant()
    const production = await tests.running.production(tenant)
    await page.signInByLink(tenant, 'passkeys')
    await page.getByText('not in use').waitFor()
    await page.getByLabel('Domain').fill('bank.example')
    await page.getByLabel('Origins of the pages').fill('https://bank.example.evil.example')
    await page.button('Turn on').click()
    await page.getByRole('alert').getByText('is not of the domain').waitFor()
    await page.getByLabel('Origins of the pages').fill(ORIGIN)
    await page.getByLabel('A registration').selectOption('backend')
    await page.button('Turn on').click()
    await page.getByText('Saved.').waitFor()
    await page.inspect('passkey-settings')

    const image = base64(await face('ada'))
    await production.enroll({ user_id: 'ada', image })
    const { authenticator } = await registered(production, 'ada')
    for (const counter of [7, 7]) {
      const passkey_assertion = await asserted(production, 'ada', 'x', authenticator, { counter })
      await production.verify({ user_id: 'ada', image, action: 'x', passkey_assertion })
    }
    await page.go('users')
    await page.getByLabel('User id').fill('ada')
    await page.button('Look up').click()
    const table = page.getByRole('region', { name: 'Passkeys of the user' })
    await table.getByText('cannot leave its device').waitFor()
    await table.getByText('did not grow').waitFor()
    await page.inspect('user-passkeys')

    const download = page.waitForEvent('download')
    await page.button('Export').click()
    const file = await download
    expect(file.suggestedFilename()).toMatch(/^user-export-\d{4}-\d\d-\d\d\.json$/)
    expect(JSON.parse(readFileSync(await file.path(), 'utf8'))).toMatchObject({
      user: { user_id: 'ada', passkeys: 1 },
    })

    await table.getByRole('button', { name: 'Revoke…' }).click()
    await page.picture('user-passkeys-revoke')
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke', exact: true }).click()
    await page.getByText('No passkey is registered').waitFor()

    await page.go('passkeys')
    await page.getByLabel('Domain').fill('other.example')
    await page.button('Save').click()
    await page.getByRole('dialog', { name: 'Change the domain?' }).waitFor()
    await page.answer('Cancel').click()
    await page.button('Turn off…').click()
    await page.getByRole('dialog').getByRole('button', { name: 'Turn off', exact: true }).click()
    await page.getByText('not in use').waitFor()
    expect(await page.getByLabel('Domain').inputValue()).not.toBe(RP_ID)
  })
})
