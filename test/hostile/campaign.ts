/** A campaign of hostile input against one service: sends it, judges every answer, counts what must not happen. */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { ERRORS } from '../../src/contract/error-codes.js'
import { openSocket, type RawResponse, rawRequest } from '../support/raw-socket.js'
import { hostileImages, imageSeeds } from './images.js'
import { damage, Random } from './random.js'
import { hostileRequest, largeRequests, requestSeeds } from './requests.js'
import type { Victim } from './service.js'

/** Far fewer than wait in the service's queue: an overloaded service would refuse without looking. */
const HTTP_CONNECTIONS = 16
const IMAGE_CONNECTIONS = 6
/** A damaged request may announce more than it sends. Nothing is judged by this: a later answer is merely not seen. */
const PATIENCE_MS = 300
/** Beyond the service's own deadline. */
const IMAGE_PATIENCE_MS = 30_000
const HEAD_BYTES = 1024
const PARSER_STATUSES = new Set([400, 431, 505])

export async function runCampaign(
  victim: Victim,
  { inputs, seed, progress }: { inputs: number; seed: number; progress: (done: number) => void },
) {
  const random = new Random(seed)
  const verdict = {
    http_inputs: 0,
    image_inputs: 0,
    crashes: 0,
    responses_5xx: 0,
    unsigned_or_uncoded: 0,
  }
  /** Answers by status; `parser` for those of the HTTP parser, which come before there is a request; `none` for no answer. */
  const answers: Record<string, number> = {}
  const count = (what: string) => {
    answers[what] = (answers[what] ?? 0) + 1
    progress(verdict.http_inputs + verdict.image_inputs)
  }
  const judge = (response: RawResponse | null, sent: Buffer) => {
    if (!response) return count('none')
    if (isParserAnswer(response)) return count('parser')
    count(String(response.status))
    const isOverload = response.body?.code === 'overloaded' && response.headers['retry-after'] !== undefined
    const isFailure = response.status >= 500 && !isOverload
    if (isFailure) verdict.responses_5xx++
    const isSound = isSigned(response, sent, victim.secrets) && isCoded(response)
    if (!isSound) verdict.unsigned_or_uncoded++
    if (isFailure || !isSound)
      process.stderr.write(
        `\n${response.status} ${response.text}\n  to ${JSON.stringify(sent.toString('latin1').slice(0, 2000))}\n`,
      )
  }

  const files = await imageSeeds()
  const requests = requestSeeds(victim, files[0]!)
  const large = largeRequests(victim, files[0]!)
  await inParallel(HTTP_CONNECTIONS, Math.ceil(inputs / 2), async (index) => {
    const damaged = hostileRequest(requests, random)
    const whole = large[index]
    const bytes = whole ?? damaged
    verdict.http_inputs++
    // Only the head of a large input is searched for its request line, so that this process does not stand still.
    judge(
      await answerTo(victim.url, bytes, whole ? IMAGE_PATIENCE_MS : PATIENCE_MS),
      whole?.subarray(0, HEAD_BYTES) ?? bytes,
    )
  })
  const whole = [...(await hostileImages()), ...files]
  await inParallel(IMAGE_CONNECTIONS, Math.floor(inputs / 2), async (index) => {
    const image = whole[index] ?? damage(random.pick(files), random)
    const bytes = enrolment(victim.key, image)
    verdict.image_inputs++
    // Whole and well-formed as HTTP: an answer must come.
    const response = await answerTo(victim.url, bytes, IMAGE_PATIENCE_MS)
    if (!response) verdict.unsigned_or_uncoded++
    judge(response, bytes)
  })
  return { verdict, answers }
}

/** Runs `task` `times` times, `lanes` at once. */
async function inParallel(
  lanes: number,
  times: number,
  task: (index: number) => Promise<void>,
): Promise<void> {
  let next = 0
  const lane = async () => {
    while (next < times) await task(next++)
  }
  await Promise.all(Array.from({ length: lanes }, lane))
}

function enrolment(key: string, image: Buffer): Buffer {
  const json = JSON.stringify({ user_id: 'hostile', image: image.toString('base64'), replace: true })
  const headers = [
    `Authorization: Bearer ${key}`,
    'Content-Type: application/json',
    `Content-Length: ${json.length}`,
  ]
  return Buffer.from(rawRequest('POST /v1/enroll', headers, json), 'latin1')
}

/** The first final answer; null when the connection ends, or `patienceMs` pass, without one. */
async function answerTo(url: string, bytes: Buffer, patienceMs: number): Promise<RawResponse | null> {
  const connection = await openSocket(url).catch(() => null)
  if (!connection) return null
  const timer = setTimeout(() => connection.end(), patienceMs)
  connection.send(bytes)
  let response = await connection.response()
  while (response?.status === 100) response = await connection.response()
  clearTimeout(timer)
  connection.end()
  return response
}

function isParserAnswer({ status, headers }: RawResponse): boolean {
  return headers['x-request-id'] === undefined && PARSER_STATUSES.has(status)
}

function isCoded({ status, body, headers }: RawResponse): boolean {
  if (typeof body !== 'object') return false
  if (status < 400) return true
  const entry = Object.hasOwn(ERRORS, body.code) && ERRORS[body.code as keyof typeof ERRORS]
  return (
    entry !== false &&
    entry.status === status &&
    entry.category === body.error &&
    body.request_id === headers['x-request-id']
  )
}

/** Damage may move the request line; any line of the input that reads like one may be what was answered. */
function isSigned({ status, headers, text }: RawResponse, sent: Buffer, secrets: Victim['secrets']): boolean {
  const [, time, kid, given] =
    /^t=(\d+),kid=([^,]+),v2=([0-9a-f]{64})$/.exec(headers['x-svc-signature'] ?? '') ?? []
  const secret = kid === undefined ? undefined : secrets.get(kid)
  if (!secret) return false
  const expected = Buffer.from(given!, 'hex')
  // Bounded: a photo in base64 is one endless word.
  // Without a version it is one of HTTP/0.9: node:http reports what was asked, and it is refused.
  const startLines = sent.toString('utf8').matchAll(/(\S{1,32}) ([^ ]{1,8192})(?: HTTP\/1\.1|\r?\n)/g)
  // Where no line reads like one, both are empty in the signature.
  return [...startLines, ['', '', '']].some(([, method, target]) =>
    timingSafeEqual(
      createHmac('sha256', secret)
        .update(`v2:production:${time}:${headers['x-request-id']}:${status}:${method}:${target}:`)
        .update(text)
        .digest(),
      expected,
    ),
  )
}
