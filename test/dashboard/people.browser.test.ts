/** The page of a tenant's people, an invitation and the sign-in that follows, in a real browser. */
import { expect } from 'vitest'
import { inChromium, VIEWPORTS } from './page-tests.js'

const PASSWORD = 'seven long words of mine'

inChromium('the people of a tenant', (it, tests) => {
  it.in(VIEWPORTS)('are invited by link, choose a password, and see what their role allows', async (page) => {
    page.tolerate('401')
    const tenant = await tests.running.tenant()
    const name = `pia.${page.scheme}@example.com`
    const button = (text: string) => page.getByRole('button', { name: text, exact: true })
    await page.signInByLink(tenant, 'people')
    await page.getByText('Nobody with a name yet').waitFor()
    await page.getByLabel('Name', { exact: true }).fill(name)
    await page.getByLabel('Role', { exact: true }).selectOption('viewer')
    await button('Add').click()
    await page.locator('.reveal strong').getByText(`Link for ${name}`).waitFor()
    await page.inspect('people-invited')
    const link = await page.locator('.reveal code').first().textContent()
    await button('Sign out').click()
    await page.heading(2, 'Sign in').waitFor()
    await page.inspect('sign-in')

    await page.goto('about:blank')
    await page.goto(link!)
    await page.heading(2, 'Choose a password').waitFor()
    await page.inspect('choose-password')
    await page.getByLabel('New password', { exact: true }).fill(PASSWORD)
    await page.getByLabel('New password again').fill('another one of mine')
    await button('Choose').click()
    await page.getByRole('alert').getByText('not the same').waitFor()
    await page.getByLabel('New password again').fill(PASSWORD)
    await button('Choose').click()
    await page.getByRole('link', { name: 'Overview' }).waitFor()
    await button('Sign out').click()
    await page.getByLabel('User name', { exact: true }).fill(name)
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
    await page.keyboard.press('Enter')
    await page.getByRole('link', { name: 'People' }).click()
    await page.heading(1, 'People').waitFor()
    await page.getByText('(you)').waitFor()
    await page.inspect('people-viewer')
    expect(await button('Add').count()).toBe(0)
    expect(await page.getByRole('link', { name: 'Try it' }).count()).toBe(0)
  })
})
