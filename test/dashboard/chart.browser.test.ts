/** The charts of the overview for people who cannot see them or cannot distinguish red from green. */
import { beforeAll, expect } from 'vitest'
import { base64, face } from '../support/faces.js'
import { EVERY_LOOK, inChromium } from './page-tests.js'

inChromium('the charts of the overview', (it, tests) => {
  beforeAll(async () => {
    const image = base64(await face('ada'))
    for (const userId of ['a+match', 'b+match', 'c+no_match', 'd+no_face'])
      await tests.tenant.sandbox.verify({ user_id: userId, image, action: 'x' })
  })

  it.in(EVERY_LOOK)('have tables with their figures', async (page) => {
    await page.signInByLink(tests.tenant, 'overview?environment=sandbox')
    const verdicts = page.locator('.card', { has: page.getByRole('heading', { name: 'Verdicts' }) })
    await verdicts.getByText('Show as table').click()
    const table = verdicts.getByRole('table').last()
    expect(await table.getByRole('columnheader').allInnerTexts()).toEqual([
      expect.stringMatching(/^Time in /),
      'Rejected',
      'Approved',
    ])
    const counts = async (column: number) => {
      const cells = await table.locator(`tbody td:nth-child(${column})`).allInnerTexts()
      return cells.reduce((sum, text) => sum + Number(text), 0)
    }
    await expect.poll(() => counts(2)).toBe(1)
    await expect.poll(() => counts(3)).toBe(2)
    await page.inspect()
    // The bars of rejections are striped, also in the legend.
    const markers = verdicts.locator('.u-legend .u-marker')
    const fills = await Promise.all(
      (await markers.all()).map(async (marker) => (await marker.getAttribute('style')) ?? ''),
    )
    expect(fills.filter((fill) => fill.includes('gradient'))).toHaveLength(1)
    await page.picture('charts')
  })
})
