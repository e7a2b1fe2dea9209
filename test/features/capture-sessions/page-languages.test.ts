/** The texts of the hosted page: each language says the same things, in the name of the company and not of the product. */
import { describe, expect, it } from 'vitest'
import { DISPLAY_LOCALES } from '../../../src/contract/locales.js'
import { noticePage } from '../../../src/features/capture-sessions/page/notice-page.js'
import { PAGE_TEXTS } from '../../../src/features/capture-sessions/page/texts/page-languages.js'

const NAMES = Object.keys(PAGE_TEXTS.en) as Array<keyof typeof PAGE_TEXTS.en>
const names = (text: string) => [...new Set(text.match(/\{\w+\}/g))].sort()

describe.each(DISPLAY_LOCALES)('the texts of the hosted page in %s', (language) => {
  const texts = PAGE_TEXTS[language]

  it.each(NAMES)('name in %s what the English text names', (name) => {
    expect(names(texts[name])).toEqual(names(PAGE_TEXTS.en[name]))
  })

  it('do not name the product, which the person has never heard of', () => {
    expect(Object.values(texts).filter((text) => /countersign/i.test(text))).toEqual([])
  })

  it('give the page of an unknown link a title that names the check', () => {
    const page = noticePage(language, { text: 'not_found', brand: null, back: null })
    expect(page).toContain(`<title>${texts.heading_not_found} – ${texts.face_check}</title>`)
  })
})
