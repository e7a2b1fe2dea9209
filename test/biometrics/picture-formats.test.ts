/** Each format in which a photo may arrive: taken with about the score of the plain JPEG, or refused with its name. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { configureDecoders, decodePixels } from '../../src/biometrics/pipeline/decode/decode-pixels.js'
import { packageFile } from '../../src/lib/package-root.js'
import { documentInDocs } from '../../tools/generators/docs.js'
import { face } from '../support/faces.js'
import { formatsTable, PICTURE_FORMATS, withGainMap } from '../support/picture-formats.js'
import { baselinePack, defaultLimits, engineOf } from './fixtures.js'

const engine = await engineOf(baselinePack())
const { reference } = await engine.enrol([await face('ada')])
const photo = await face('adaElsewhere')
const plainScore = await scoreOf(photo)

async function scoreOf(bytes: Buffer): Promise<number> {
  return (await engine.verify([bytes], reference)).score
}

describe('a photo in another format', () => {
  it.each(PICTURE_FORMATS)('$name: $answer', async ({ make, answer }) => {
    const bytes = await make(photo)
    if (typeof answer === 'number') {
      expect(Math.abs((await scoreOf(bytes)) - plainScore)).toBeLessThanOrEqual(answer)
      return
    }
    const refusal = await scoreOf(bytes).catch((error) => error)
    expect(refusal).toMatchObject({ code: 'image_unreadable', message: expect.stringContaining(answer) })
    // A file that is read but not taken gets no guidance about its format.
    const isForeign = answer.endsWith('not a JPEG, PNG or WebP file.')
    expect(refusal.guidance === 'wrong_format').toBe(isForeign)
  })

  it('names the settings of an iPhone only for HEIC', async () => {
    for (const { name, make, answer } of PICTURE_FORMATS) {
      if (typeof answer === 'number') continue
      const { message } = await scoreOf(await make(photo)).catch((error) => error)
      expect(message.includes('iPhone'), name).toBe(name.startsWith('HEIC'))
      expect(message).not.toContain(',,')
    }
  })

  it('has exactly the pixels of the first picture where it is Ultra HDR, whose own loader is blocked', async () => {
    const ultra = await withGainMap(photo)
    const end = ultra.indexOf(Buffer.of(0xff, 0xd9)) + 2
    expect(end).toBeLessThan(ultra.length)
    configureDecoders()
    const whole = await decodePixels(ultra, defaultLimits)
    expect(whole.format).toBe('jpeg')
    const first = await decodePixels(ultra.subarray(0, end), defaultLimits)
    expect(Buffer.compare(Buffer.from(whole.pixels.data), Buffer.from(first.pixels.data))).toBe(0)
  })

  it('is listed in docs/accuracy.md (UPDATE_DOCS=1 writes the table)', () => {
    const page = readFileSync(packageFile('docs', 'accuracy.md'), 'utf8')
    const [before, rest] = page.split('<!-- formats -->')
    const [, after] = rest!.split('<!-- /formats -->')
    const made = `${before}<!-- formats -->\n${formatsTable()}\n<!-- /formats -->${after}`
    expect(documentInDocs('accuracy.md', made)).toBe(made)
  })
})
