/** The vocabulary of guidance: every code has one text in each language, and no text stands without a code. */
import { describe, expect, it } from 'vitest'
import { messagesIn } from '../../clients/capture/capture-texts.js'
import { FRAME_GUIDANCE, GUIDANCE, PHOTO_GUIDANCE } from '../../clients/capture/guidance-codes.js'
import { GUIDANCE_TEXTS } from '../../clients/capture/guidance-texts.js'
import { DISPLAY_LOCALES } from '../../src/contract/locales.js'
import { PAGE_TEXTS } from '../../src/features/capture-sessions/page/texts/page-languages.js'
import { OPENAPI } from '../support/descriptions.js'

const sorted = (names: Iterable<string>) => [...names].sort()
const english = messagesIn('en')

it('names no code twice', () => {
  expect(new Set(PHOTO_GUIDANCE).size).toBe(PHOTO_GUIDANCE.length)
  for (const code of [...FRAME_GUIDANCE, ...GUIDANCE]) expect(PHOTO_GUIDANCE).toContain(code)
})

it('has an English text for exactly its codes, which the component shows', () => {
  expect(sorted(Object.keys(GUIDANCE_TEXTS))).toEqual(sorted(PHOTO_GUIDANCE))
  for (const code of PHOTO_GUIDANCE) expect(english[code], code).toBe(GUIDANCE_TEXTS[code])
})

describe.each(DISPLAY_LOCALES)('the texts of the component in %s', (language) => {
  const texts: Record<string, string> = messagesIn(language)

  it('have the names of the English ones, and no others', () => {
    expect(sorted(Object.keys(texts))).toEqual(sorted(Object.keys(english)))
  })

  it('say something for every code, and the same for no two', () => {
    const said = PHOTO_GUIDANCE.map((code) => texts[code]?.trim())
    expect(PHOTO_GUIDANCE.filter((_, index) => !said[index])).toEqual([])
    expect(new Set(said).size).toBe(PHOTO_GUIDANCE.length)
  })

  it('are texts of their own language', () => {
    if (language === 'en') return
    expect(PHOTO_GUIDANCE.filter((code) => texts[code] === english[code])).toEqual([])
  })

  it('are the only ones: the hosted page has none for a code', () => {
    const codes: readonly string[] = PHOTO_GUIDANCE
    expect(Object.keys(PAGE_TEXTS[language]).filter((name) => codes.includes(name))).toEqual([])
  })
})

describe('the OpenAPI document', () => {
  // biome-ignore lint/suspicious/noExplicitAny: a JSON document, looked into freely
  const { schemas } = OPENAPI.components as any

  it('lists the codes of a frame, of a series and of a photo', () => {
    expect(schemas.Guidance.properties.guidance.items.enum).toEqual([...FRAME_GUIDANCE])
    expect(schemas.Liveness.properties.guidance.items.enum).toEqual([...GUIDANCE])
    expect(schemas.QualityIssue.properties.guidance.enum).toEqual([...PHOTO_GUIDANCE])
    expect(schemas.Error.properties.details.items.properties.guidance.enum).toEqual([...PHOTO_GUIDANCE])
  })
})
