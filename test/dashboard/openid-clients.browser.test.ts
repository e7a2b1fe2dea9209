/** The page of a tenant's applications at the OpenID provider, in a real browser. */
import { expect } from 'vitest'
import { inChromium, VIEWPORTS } from './page-tests.js'

inChromium('the applications of a tenant', (it, tests) => {
  it.in(VIEWPORTS)('shows the secret of a new one once, and lists and removes it', async (page) => {
    const tenant = await tests.running.tenant()
    await page.signInByLink(tenant, 'openid-clients')
    await page.getByText('No applications yet').waitFor()
    await page.getByLabel('Name', { exact: true }).fill('portal')
    await page.getByLabel('Redirect addresses, one a line').fill('https://app.bank.example/callback')
    await page.getByRole('button', { name: 'Add', exact: true }).click()
    await page.getByText('Client secret of portal').first().waitFor()
    const list = page.getByRole('region', { name: 'Applications' })
    await list.getByText('https://app.bank.example/callback').waitFor()
    await page.inspect('openid-clients')
    const secret = await page.locator('.reveal code').first().textContent()
    await page.button('Hide Client secret of portal').click()
    expect(await page.content()).not.toContain(secret)
    await page.button('Remove portal').click()
    await page.picture('openid-clients-dialog')
    await page.answer('Remove').click()
    await page.getByText('No applications yet').waitFor()
  })
})
