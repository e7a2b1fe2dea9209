import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { SETTINGS } from '../../../src/config/config.js'
import { packageFile } from '../../../src/lib/package-root.js'
import { shippedCalibration } from '../../../tools/pack-builders/calibration/shipped.js'

/** Without the marks around generated figures. */
const page = readFileSync(packageFile('docs', 'guides', 'dpia.md'), 'utf8').replaceAll(/<!--.*?-->/g, '')

it('docs/guides/dpia.md names the misses of the default pack at the default rate', () => {
  const rate = Number(SETTINGS.fmr.fallback)
  const { fnmr } = shippedCalibration('standard').points.find(({ fmr }) => fmr === rate)!
  expect(page).toContain(`${(100 * fnmr!).toFixed(1)} % of comparisons with the standard pack and one photo`)
})

it('docs/guides/dpia.md names the default retention of the request log', () => {
  expect(page).toContain(`${SETTINGS.requestLogDays.fallback} days (\`COUNTERSIGN_REQUEST_LOG_DAYS\`)`)
})

it('docs/guides/dpia.md leaves blanks for the operator in every section', () => {
  const sections = page.split(/^## /m).slice(1)
  expect(sections).toHaveLength(4)
  for (const section of sections) expect(section).toContain('[…]')
})
