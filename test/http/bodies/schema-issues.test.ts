/** The answer to a wrong field: a sentence that says what the field may be. */
import { describe, expect, it } from 'vitest'
import { DESCRIPTIONS } from '../../support/descriptions.js'
import { base64 } from '../../support/faces.js'
import { boxedFile, heicHeader } from '../../support/images.js'
import { serviceOfFile } from '../../support/service.js'

const running = await serviceOfFile({ COUNTERSIGN_CAPTURE_LISTEN: '127.0.0.1:0' })
const tenant = await running.tenant()
const production = await running.production(tenant)

const session = { user_id: 'ada+match', action: 'x', return_url: 'https://bank.example/' }

describe('the detail of a wrong field', () => {
  const CASES: Array<[string, object, string, string]> = [
    ['/v1/capture-sessions', { ...session, locale: 'it' }, 'locale', 'must be one of en, de, fr, es, ja'],
    ['/v1/capture-sessions', { ...session, confirmation: 'x' }, 'confirmation', 'must be one of code, none'],
    ['/v1/capture-sessions', { ...session, description: '' }, 'description', 'must not be empty'],
    [
      '/v1/capture-sessions',
      { ...session, description: 'x'.repeat(201) },
      'description',
      'must have at most 200 characters',
    ],
    ['/v1/challenges', { user_id: 'a', modes: ['wink'] }, 'modes.0', 'must be one of turn, nod'],
    ['/v1/challenges', { user_id: 'a', modes: 'turn' }, 'modes', 'must be a list'],
    ['/v1/challenges', { user_id: 'a', modes: ['turn', 'turn'] }, 'modes', 'must not hold an item twice'],
    ['/v1/challenges', { user_id: 'a', action: 7 }, 'action', 'must be a string or an object'],
    ['/v1/verify', { user_id: 7, image: 'AAAA', action: 'x' }, 'user_id', 'must be a string'],
    ['/v1/enroll', { user_id: 'a', image: 'AAAA', replace: 'yes' }, 'replace', 'must be true or false'],
    ['/v1/enroll', { user_id: 'a', images: [] }, 'images', 'must hold at least 1 item'],
    ['/v1/enroll', { user_id: 'a', images: Array(6).fill('AAAA') }, 'images', 'must hold at most 5 items'],
    ['/v1/challenges', [], 'body', 'must be an object'],
  ]
  it.each(CASES)('says what a wrong field may be at %s, %j: %s %s', async (path, body, field, issue) => {
    const response = await tenant.sandbox.call('POST', path, body)
    expect([response.status, response.body.code]).toEqual([400, 'invalid_request'])
    expect(response.body.details).toEqual([{ path: field, issue }])
  })

  it('says what a wrong query parameter may be', async () => {
    const { body } = await production.call('GET', '/v1/audit?after=x&limit=0')
    expect(body.details).toContainEqual({ path: 'limit', issue: 'must be at least 1' })
    expect(body.details).toContainEqual({
      path: 'after',
      issue: 'must be a whole number of at most 15 digits',
    })
  })

  it('has a sentence of its own for each keyword that the schemas use', () => {
    const DESCRIBED = [
      ...['type', 'const', 'anyOf', 'oneOf', 'required', 'properties', 'items', 'additionalProperties'],
      ...['minLength', 'maxLength', 'minItems', 'maxItems', 'uniqueItems', 'minimum', 'maximum'],
      ...['pattern', 'format', 'patternProperties'],
    ]
    const NOTES = [
      'description',
      'title',
      'default',
      'examples',
      'contentEncoding',
      'contentMediaType',
      'contentSchema',
      'documentedBranches',
    ]
    const used = new Set<string>()
    const walk = (schema: Record<string, unknown>) => {
      for (const [keyword, value] of Object.entries(schema)) {
        used.add(keyword)
        if (keyword === 'properties' || keyword === 'patternProperties')
          for (const field of Object.values(value as object)) walk(field)
        if (keyword === 'items') walk(value as Record<string, unknown>)
        if (keyword === 'anyOf' || keyword === 'oneOf')
          for (const branch of value as object[]) walk({ ...branch })
      }
    }
    for (const { body, query = {} } of DESCRIPTIONS) {
      if (body) walk({ ...body })
      for (const { schema } of Object.values(query)) walk({ ...schema })
    }
    expect([...used].filter((keyword) => ![...DESCRIBED, ...NOTES].includes(keyword))).toEqual([])
  })
})

describe('the message about a body that is too large', () => {
  it('gives the limit of a body with photos in MiB, with a size of photo that suffices', async () => {
    const { body } = await tenant.sandbox.call('POST', '/v1/enroll', undefined, {
      raw: ' '.repeat(9_000_000),
    })
    expect(body.message).toBe(
      'The body is larger than 8 MiB; a photo of 1280 pixels on its longer side is plenty.',
    )
  })

  it('gives the limit of a body without photos in KiB', async () => {
    const { body } = await tenant.sandbox.call('DELETE', '/v1/delete', undefined, { raw: ' '.repeat(20_000) })
    expect(body.message).toBe('The body is larger than 16 KiB.')
  })
})

describe('a file that is not a JPEG, PNG or WebP', () => {
  const begun = (start: string) => Buffer.from(start.padEnd(64), 'latin1')
  const CONVERT = 'Convert it to JPEG.'
  const DEVELOP = 'Export it as JPEG from the camera or its software.'
  const STILL = 'Send one still picture as JPEG.'
  const PHOTO = 'Send the photo itself as JPEG.'
  const FILES: Array<[name: string, file: Buffer, hint: string]> = [
    ['a HEIC file', heicHeader(), 'Settings > Camera > Formats'],
    ['a HEIC file', boxedFile('mif1', 'miaf'), 'Settings > Camera > Formats'],
    ['an AVIF file', boxedFile('avif', 'mif1', 'miaf'), CONVERT],
    ['an AVIF file', boxedFile('mif1', 'avif'), CONVERT],
    ['a HEIF file', boxedFile('avci', 'mif1'), CONVERT],
    ['a HEIF file', boxedFile('vvic', 'mif1'), CONVERT],
    ['a HEIF file', boxedFile('jpeg', 'mif1'), CONVERT],
    ['a HEIF file', boxedFile('j2ki', 'mif1'), CONVERT],
    ['a Canon CR3 file', boxedFile('crx ', 'isom'), DEVELOP],
    ['a video, such as MP4 or MOV', boxedFile('qt  ', 'qt  '), STILL],
    ['an AVI video', begun('RIFF\0\0\0\0AVI LIST'), STILL],
    ['a WebM or Matroska video', begun('\x1aE\xdf\xa3'), STILL],
    ['a GIF file', begun('GIF89a'), CONVERT],
    ['a PDF file', begun('%PDF-1.7'), PHOTO],
    ['a ZIP archive', begun('PK\x03\x04'), PHOTO],
    ['a TIFF file', begun('II*\0\x08\0\0\0'), CONVERT],
    ['a BigTIFF file', begun('II+\0'), CONVERT],
    ['a BigTIFF file', begun('MM\0+'), CONVERT],
    ['a BMP file', begun('BM'), CONVERT],
    ['an ICO file', begun('\0\0\x01\0'), CONVERT],
    ['a Photoshop PSD file', begun('8BPS'), CONVERT],
    ['a JPEG XL file', begun('\xff\x0a'), CONVERT],
    ['a JPEG 2000 file', begun('\xff\x4f\xff\x51'), CONVERT],
    ['a JPEG XR file', begun('II\xbc\x01'), CONVERT],
    ['a Fujifilm RAF file', begun('FUJIFILMCCD-RAW '), DEVELOP],
    ['a Panasonic RW2 file', begun('IIU\0'), DEVELOP],
    ['an Olympus ORF file', begun('IIRO'), DEVELOP],
    ['a Canon CR2 file', begun('II*\0\x10\0\0\0CR'), DEVELOP],
    ['a text file, such as SVG or HTML', begun('<svg xmlns="http://www.w3.org/2000/svg"/>'), PHOTO],
    ['a text file, such as SVG or HTML', begun('\xef\xbb\xbf<svg/>'), PHOTO],
  ]
  it.each(FILES)(
    'names %s as the format of a refused image, and says what to do instead',
    async (name, file, hint) => {
      for (const client of [tenant.sandbox, production]) {
        const { status, body } = await client.enroll({ user_id: 'heic', image: base64(file) })
        expect([status, body.code]).toEqual([422, 'image_unreadable'])
        expect(body.message).toContain(`The image is ${name}, not a JPEG`)
        expect(body.message).toContain(hint)
        expect(body.message).not.toContain(',,')
        expect(body.details).toMatchObject([{ path: 'image', guidance: 'wrong_format' }])
        expect(body.details[0].hint).toContain('Most Compatible')
        if (name !== 'a HEIC file') expect(body.message).not.toContain('iPhone')
        // The remedy can be read without the message, and does not say the same again.
        expect(body.remedy).toMatch(/^Send a complete JPEG, PNG or WebP/)
        expect(body.remedy).not.toContain('iPhone')
      }
    },
  )

  it('calls bytes of no known format unreadable, without naming a format', async () => {
    const { body } = await tenant.sandbox.enroll({
      user_id: 'x',
      image: base64(Buffer.from('nothing known')),
    })
    expect(body.details).toMatchObject([{ guidance: 'file_unreadable' }])
  })
})
