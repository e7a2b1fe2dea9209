/** The pictures of pages in docs/images can be taken. `npm run screenshots` keeps them. */
import { writeFileSync } from 'node:fs'
import sharp from 'sharp'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { packageFile } from '../src/lib/package-root.js'
import { fileOf, SCREENSHOTS } from '../tools/generators/screenshots/screenshots.js'
import { Studio } from '../tools/generators/screenshots/studio.js'
import { CHROMIUM } from './support/browser.js'

const UPDATE = process.env.UPDATE_DOCS === '1'

describe.skipIf(!CHROMIUM)('the pictures of pages', { timeout: 180_000 }, () => {
  let studio: Studio
  beforeAll(async () => {
    studio = await Studio.open()
  }, 300_000)
  afterAll(() => studio?.close())

  for (const { name, take } of SCREENSHOTS)
    for (const scheme of ['light', 'dark'] as const)
      it(`has ${name}, ${scheme}, as a WebP of less than 150 kB`, async () => {
        const picture = await take(studio, scheme)
        expect((await sharp(picture).metadata()).format).toBe('webp')
        expect(picture.length).toBeLessThan(150_000)
        if (UPDATE) writeFileSync(packageFile('docs', 'images', fileOf(name, scheme)), picture)
      })
})
