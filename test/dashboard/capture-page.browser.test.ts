/** The page with the settings of the hosted capture page, in a real browser. */
import sharp from 'sharp'
import { expect } from 'vitest'
import { inChromium, VIEWPORTS } from './page-tests.js'

inChromium('the settings of the capture page', (it, tests) => {
  it.in(VIEWPORTS)('are previewed while they are typed, saved, and refused with a reason', async (page) => {
    page.tolerate('400')
    const tenant = await tests.running.tenant()
    const save = page.getByRole('button', { name: 'Save', exact: true })
    await page.signInByLink(tenant, 'capture-page')
    await page.getByLabel('Company').fill('Beispielbank')
    await page.getByLabel('Consent text', { exact: true }).fill('We compare your face.')
    await page.getByLabel('Version of the consent text').fill('2026-11')
    await page.locator('.capture-preview.dark').getByText('We compare your face.').waitFor()
    await page.getByLabel('Color', { exact: true }).fill('#FFCC00')
    await page.getByText('Shown as #').waitFor()
    const buffer = await sharp({
      create: { width: 300, height: 80, channels: 4, background: { r: 0, g: 51, b: 102, alpha: 1 } },
    })
      .png()
      .toBuffer()
    const file = { name: 'logo.png', mimeType: 'image/png', buffer }
    const logo = page.getByLabel('Choose a logo')
    await logo.setInputFiles({ ...file, buffer: Buffer.alloc(600 * 1024) })
    await page.getByRole('alert').getByText('at most 512 KiB').waitFor()
    await logo.setInputFiles(file)
    await page.getByRole('img', { name: 'Logo' }).first().waitFor()
    await page.getByLabel('Return origins').fill('https://shop.example.com/back')
    await save.click()
    await page.getByRole('alert').getByText('is not an origin').waitFor()
    await page.getByLabel('Return origins').fill('https://shop.example.com')
    await save.click()
    await page.getByText('Saved.').waitFor()
    await page.inspect('capture-settings')
    await page.reload()
    expect(await page.getByLabel('Company').inputValue()).toBe('Beispielbank')
    expect(await page.getByLabel('Color', { exact: true }).inputValue()).toBe('#ffcc00')
    await page.getByRole('img', { name: 'Logo' }).first().waitFor()
    await page.button('Remove the logo').click()
    await save.click()
    await page.getByText('Saved.').waitFor()
    await page.reload()
    await page.getByLabel('Choose a logo').waitFor({ state: 'attached' })
    expect(await page.getByRole('img', { name: 'Logo' }).count()).toBe(0)
  })
})
