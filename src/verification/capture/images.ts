/** Reads the pictures of a request from its fields, decodes them from base64, and refuses everything that is not strict base64. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { invalidField } from '../../lib/domain-error.js'
import { decodeBase64Text } from './base64-text.js'

/** Base64 as a string, or as the bytes between the quotes of a JSON string, escapes included, where the body was never a string. */
export type Base64 = string | Uint8Array

/** Names the field that holds the picture of an index. */
export type PathOf = (index: number) => string

/** A field that brings pictures. A request has exactly one of such fields. */
export interface PictureField {
  readonly name: string
  /** Path of what holds the pictures. */
  readonly path: string
  readonly pathOf: PathOf
  /** @returns the pictures in their order; undefined for a request without the field */
  filesOf(input: object): readonly Base64[] | undefined
}

/** Photos. */
export interface ImageInput {
  image?: Base64
  images?: Base64[]
}

const PHOTO_FIELDS: readonly PictureField[] = [
  {
    name: 'image',
    path: 'image',
    pathOf: () => 'image',
    filesOf: ({ image }: ImageInput) => (image === undefined ? undefined : [image]),
  },
  {
    name: 'images',
    path: 'images',
    pathOf: (index) => `images.${index}`,
    filesOf: ({ images }: ImageInput) => images,
  },
]

/** The decoded pictures of a request. */
export interface Pictures {
  field: PictureField
  images: Buffer[]
}

/**
 * Decodes the image files of a request, in their order.
 * @param further fields besides those of photos
 * @throws DomainError invalid_request when none or several of the fields are there, or the base64 is wrong
 */
export async function decodeImages(input: object, further: readonly PictureField[] = []): Promise<Pictures> {
  const fields = [...PHOTO_FIELDS, ...further]
  const given = fields.flatMap((field) => {
    const files = field.filesOf(input)
    return files ? { field, files } : []
  })
  const [first] = given
  if (!first || given.length > 1) throw invalidField('image', oneOfThem(fields))
  const { field, files } = first
  const images: Buffer[] = []
  for (const [index, text] of files.entries()) images.push(await decodeImage(text, field.pathOf(index)))
  return { field, images }
}

/** Asks for one of the fields. */
export function oneOfThem(fields: ReadonlyArray<{ name: string }>): string {
  const names = fields.map(({ name }) => `\`${name}\``)
  return `give one of ${names.slice(0, -1).join(', ')} and ${names.at(-1)}`
}

const DATA_PREFIX = 'data:'

/**
 * Decodes one image file.
 * @param path field that holds the image, for the error
 * @throws DomainError invalid_request when the base64 is wrong
 */
export async function decodeImage(text: Base64, path: string): Promise<Buffer> {
  if (Buffer.from(text.slice(0, DATA_PREFIX.length)).toString() === DATA_PREFIX)
    throw invalidField(path, 'must be only base64, without a `data:` prefix')
  const decoding = decodeBase64Text(text)
  let step = decoding.next()
  // Other work of the main thread has a turn before the next slice.
  while (!step.done) {
    await nextTurn()
    step = decoding.next()
  }
  if (!step.value)
    throw invalidField(path, 'must be base64 with padding and without line breaks (RFC 4648, section 4)')
  return step.value
}
