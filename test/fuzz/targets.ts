/** The targets of fuzzing: every reader of bytes from outside, with the rules that hold for any input. */

import { isUtf8 } from 'node:buffer'
import { isDeepStrictEqual } from 'node:util'
import { parseCalibration } from '../../models/pack/calibration.js'
import { ModelPackError, readPackManifest, thresholdForFmr } from '../../models/pack/model-pack.js'
import { statusOf } from '../../src/api/error-response.js'
import { type Frame, FrameError, FrameReader } from '../../src/biometrics/channel/frames.js'
import { messageCheck } from '../../src/biometrics/channel/worker-messages.js'
import { nativeKernels, typescriptKernels } from '../../src/biometrics/kernels/kernels.js'
import { sniffImageFormat } from '../../src/biometrics/pipeline/decode/image-format.js'
import { jpegSize } from '../../src/biometrics/pipeline/decode/jpeg-size.js'
import { inputParser } from '../../src/http/bodies/json-body.js'
import { ClientAddresses } from '../../src/http/listeners/client-address.js'
import { oneLine, readHeaders } from '../../src/http/listeners/framing.js'
import { startLineOf } from '../../src/http/listeners/malformed-request.js'
import { DomainError } from '../../src/lib/domain-error.js'
import { decodeBase64Text } from '../../src/verification/capture/base64-text.js'
import type { ImageInput } from '../../src/verification/capture/images.js'
import { readTfliteModel } from '../../tools/pack-builders/tflite/tflite-model.js'
import { descriptionOf } from '../support/descriptions.js'
import type { Target } from './fuzzer.js'

type Refusal = abstract new (...args: never[]) => Error

/** The result of `work`, or null where it throws one of the coded refusals. @throws any other error of `work` */
function unlessRefused<T>(work: () => T, ...refusals: Refusal[]): T | null {
  try {
    return work()
  } catch (error) {
    if (refusals.some((refusal) => error instanceof refusal) && !isFailure(error)) return null
    throw error
  }
}

function isFailure(error: unknown): boolean {
  return error instanceof DomainError && statusOf(error) >= 500
}

function assert(holds: boolean, rule: string): void {
  if (!holds) throw new Error(rule)
}

const parsers = ['enroll', 'verify', 'delete', 'rotate_signing'].map((name) =>
  inputParser(descriptionOf(name)),
)

/** The first byte picks the endpoint. */
function runJson(input: Buffer): void {
  const parse = parsers[(input[0] ?? 0) % parsers.length]!
  const body = input.subarray(1)
  const parsed = unlessRefused(() => parse(body, 'application/json', ''), DomainError)
  if (parsed === null || body.length === 0) return
  // Only the decoder looks at a long string in a base64 field.
  if (holdsImages(parsed) && imagesOf(parsed).some((text) => decoded(text) === null)) return
  assert(isUtf8(body), 'what is no UTF-8 is refused')
  const withText = Object.fromEntries(
    Object.entries(parsed as object).map(([name, value]) => [name, textOf(value)]),
  )
  assert(
    isDeepStrictEqual(withText, JSON.parse(body.toString('utf8'))),
    'what is parsed is what any JSON parser reads',
  )
}

function holdsImages(parsed: unknown): parsed is ImageInput {
  return typeof parsed === 'object' && parsed !== null && ('image' in parsed || 'images' in parsed)
}

function imagesOf({ image, images = [] }: ImageInput): Array<string | Uint8Array> {
  return image === undefined ? images : [image, ...images]
}

/** Without the pauses. */
function decoded(text: string | Uint8Array, sliceBytes?: number): Buffer | null {
  const decoding = decodeBase64Text(text, sliceBytes)
  let step = decoding.next()
  while (!step.done) step = decoding.next()
  return step.value
}

function textOf(value: unknown): unknown {
  // The inside of a string of the document, which is one by now.
  if (Buffer.isBuffer(value)) return JSON.parse(`"${value.toString('utf8')}"`)
  return Array.isArray(value) ? value.map(textOf) : value
}

function runQuery(input: Buffer): void {
  unlessRefused(
    () => parsers[(input[0] ?? 0) % parsers.length]!(Buffer.alloc(0), undefined, input.toString('latin1', 1)),
    DomainError,
  )
}

function runBase64(input: Buffer): void {
  const text = input.toString('latin1')
  const expected = Buffer.from(text, 'base64')
  const image = decoded(text)
  if (image) assert(image.equals(expected), 'what is taken is what any decoder reads')
  else assert(expected.toString('base64') !== text, 'base64 is taken')
  assert(
    isDeepStrictEqual(decoded(input), isJsonText(text) ? decoded(JSON.parse(`"${text}"`)) : null),
    'the inside of a JSON string is read as JSON has it',
  )
  assert(isDeepStrictEqual(decoded(input), decoded(input, FEW_BYTES)), 'slices make no difference')
  const outs = [typescriptKernels, nativeKernels.kernels].map((kernels) => {
    const out = Buffer.alloc(Math.ceil(input.length / 4) * 3)
    return { written: kernels?.decodeBase64(input, out), out }
  })
  const [ours, native] = outs
  if (nativeKernels.kernels && ours!.written !== -1)
    assert(isDeepStrictEqual(ours, native), 'both kernels write the same')
  if (nativeKernels.kernels) assert(ours!.written === native!.written, 'both kernels take the same')
}

const FEW_BYTES = 16

/** The inside of a string of JSON, all ASCII. */
function isJsonText(text: string): boolean {
  try {
    return (
      /^[\0-\x7f]*$/.test(text) &&
      !/^(?:[^\\]|\\.)*"/s.test(text) &&
      typeof JSON.parse(`"${text}"`) === 'string'
    )
  } catch {
    return false
  }
}

const MAX_FRAME_BYTES = 4096
const DIMENSIONS = 4
const check = messageCheck(DIMENSIONS)
const TASKS = ['enrol', 'verify', 'compare', 'inspect', 'fault'] as const

/** The first byte says how the stream is cut. */
function runFrames(input: Buffer): void {
  const stream = input.subarray(1)
  const whole = framesOf(stream, stream.length)
  const cut = framesOf(stream, 1 + (input[0] ?? 0))
  assert(isDeepStrictEqual(whole, cut), 'frames are the same however the stream is cut')
  for (const { message, images } of whole.frames) {
    assert(
      images.every((image) => image.byteLength <= MAX_FRAME_BYTES),
      'no part is larger than what was announced',
    )
    if (!check.isMessage(message) || message.kind !== 'reply') continue
    for (const task of TASKS) check.isReplyTo(task, message.reply)
  }
}

function framesOf(stream: Buffer, size: number): { frames: Array<Frame<unknown>>; isBroken: boolean } {
  const frames: Array<Frame<unknown>> = []
  const reader = new FrameReader<unknown>(MAX_FRAME_BYTES, (frame) => frames.push(frame))
  const end = unlessRefused(() => {
    for (let at = 0; at < stream.length; at += size) reader.push(stream.subarray(at, at + size))
    return true
  }, FrameError)
  return { frames, isBroken: end === null }
}

function runJpeg(input: Buffer): void {
  sniffImageFormat(input)
  const size = jpegSize(input)
  const isSide = (side: number) => Number.isInteger(side) && side > 0 && side <= 0xffff
  assert(!size || (isSide(size.width) && isSide(size.height)), 'sides are what two bytes can say')
}

function runPack(input: Buffer): void {
  const text = input.toString('utf8')
  const manifest = unlessRefused(() => readPackManifest(text, 'input'), ModelPackError)
  const calibration = unlessRefused(() => parseCalibration(text, 'input'), ModelPackError)
  if (!manifest) return
  const pack = { dir: '', modelId: 'fuzzed@1', manifest, ...(calibration ? { calibration } : {}) }
  const { threshold, fmr } = thresholdForFmr(pack, 1e-4)
  assert(Number.isFinite(threshold) && fmr > 0 && fmr <= 1, 'a pack that is taken has a threshold')
}

function runTflite(input: Buffer): void {
  const model = unlessRefused(() => readTfliteModel(input), Error)
  if (!model) return
  const numbers = model.tensors.reduce((sum, { constant }) => sum + (constant?.length ?? 0), 0)
  assert(
    numbers * Float32Array.BYTES_PER_ELEMENT <= input.length * model.tensors.length,
    'no more numbers than bytes',
  )
}

const addresses = new ClientAddresses(['10.0.0.0/8', '::1'])

/** Lines of a head, as a parser hands them over. */
function runHeaders(input: Buffer): void {
  const text = input.toString('latin1')
  const line = oneLine(text)
  assert(!/[\r\n\0]/.test(line), 'nothing breaks a line')
  startLineOf({ name: '', message: '', rawPacket: input, bytesParsed: (input[0] ?? 0) % (input.length + 1) })
  const headers = readHeaders((add) => {
    for (const header of text.split('\r\n')) {
      const colon = header.indexOf(':')
      if (colon > 0) add(header.slice(0, colon).toLowerCase(), header.slice(colon + 1).trim())
    }
  })
  if (!headers) return
  assert(headers.host !== undefined, 'what has no host is not served')
  assert(
    headers['content-length'] === undefined || headers['transfer-encoding'] === undefined,
    'one framing, or none',
  )
  const address = addresses.of({ remoteAddress: '10.0.0.1', headers })
  assert(address === '10.0.0.1' || !/[\s,]/.test(address), 'a client has one address')
}

export const TARGETS: readonly Target[] = [
  {
    name: 'json',
    words: [
      ...['"user_id":', '"image":', '"images":[', '"action":', '"nonce":', '"replace":true', '"__proto__":'],
      ...[
        '{',
        '}',
        '[',
        ']',
        '"',
        '\\"',
        '\\\\',
        '\\/',
        '\\u0000',
        '\\ud800',
        ',',
        ':',
        'null',
        '1e999',
        '-0',
      ],
      ...[
        'A'.repeat(2047),
        'A'.repeat(2048),
        '\\/'.repeat(1024),
        '\\'.repeat(2049),
        '\xf0\x9f\x98\x80',
        '\xed\xa0\x80',
      ],
    ],
    mostBytes: 40_000,
    run: runJson,
  },
  {
    name: 'query',
    words: ['user_id=', '&', '%', '%00', '%ff', '%ed%a0%80', '+', '=', 'user_id=a&user_id=b'],
    mostBytes: 1024,
    run: runQuery,
  },
  {
    name: 'base64',
    words: ['=', '==', 'data:', 'AAAA', '\n', '-', '_', 'QR==', '\\/', '\\u002b', '\\u', '\\', '\\\\', '"'],
    mostBytes: 4096,
    run: runBase64,
  },
  {
    name: 'frames',
    words: [
      '{"$vector":0}',
      '{"$vector":1}',
      '{"$vector":"length"}',
      '"kind":"reply"',
      '"id":1',
      '"reply":{',
      '{"ok":true,',
    ],
    mostBytes: 8192,
    run: runFrames,
  },
  {
    name: 'jpeg',
    words: [
      '\xff\xd8\xff\xe0',
      '\xff\xc0',
      '\xff\xc2',
      '\xff\xda',
      '\xff\xd9',
      '\xff\xe1',
      '\x89PNG\r\n\x1a\n',
      'RIFF',
      'WEBP',
    ],
    mostBytes: 4096,
    run: runJpeg,
  },
  {
    name: 'pack',
    words: [
      '"__proto__":{}',
      'null',
      '1e999',
      '-1',
      '[]',
      '{}',
      '"../x"',
      '"fmr":',
      '"threshold":',
      '"calibration":',
      '"liveness":',
    ],
    mostBytes: 16_384,
    run: runPack,
  },
  { name: 'tflite', words: ['TFL3', '\xff\xff\xff\x7f', '\0\0\0\0'], mostBytes: 8192, run: runTflite },
  {
    name: 'headers',
    words: [
      ...[
        '\r\n',
        '\n',
        ':',
        ',',
        'Host: a\r\n',
        'Content-Length: 1\r\n',
        'Transfer-Encoding: chunked\r\n',
        'GET / HTTP/1.1\r\n',
      ],
      ...[
        'X-Forwarded-For: 10.0.0.2, 192.0.2.1\r\n',
        '[::1]:1',
        '::ffff:10.0.0.1',
        '192.0.2.1:4711',
        '__proto__: a\r\n',
        '\0',
      ],
    ],
    mostBytes: 4096,
    run: runHeaders,
  },
]
