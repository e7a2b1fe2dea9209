/**
 * Sends challenges and their films. Like the load generator, it is a process of its own and sends bodies out of
 * ready-made buffers.
 */
import type { Movement, Step } from '../../src/features/challenges/film/steps.js'
import { filmFor } from './challenge-film.js'
import { type ChallengeLoad, type ChallengeOrder, FRAME_INTERVAL_MS } from './challenge-orders.js'
import { serveOrders } from './helper-process.js'
import { LeanClient } from './lean-client.js'

/** Context of a bank's transaction, of typical size. */
const ACTION = { type: 'wire_transfer', amount: '1250.00', currency: 'EUR', to: 'DE89370400440532013000' }
const START_OF_IMAGE_BYTES = 2

interface EncodedParts {
  ahead: { first: Buffer[]; last: Buffer[] }
  movements: Record<Movement, Buffer[]>
}

/** JPEG files without their first marker, in base64: `freshStart` puts another in its place. */
function encode({ ahead, movements }: ChallengeOrder['parts']): EncodedParts {
  const each = (files: readonly Uint8Array[]) =>
    files.map((file) => Buffer.from(Buffer.from(file).subarray(START_OF_IMAGE_BYTES).toString('base64')))
  const { turn_left, turn_right, nod_up, nod_down } = movements
  return {
    ahead: { first: each(ahead.first), last: each(ahead.last) },
    movements: {
      turn_left: each(turn_left),
      turn_right: each(turn_right),
      nod_up: each(nod_up),
      nod_down: each(nod_down),
    },
  }
}

const COMMENT_BYTES = 12
let frameNumber = 0

/**
 * Returns the start of a JPEG file with a comment that no other file has, in base64: the service refuses a frame that
 * it has seen before. The length is a multiple of three, so that the ready-made base64 follows without a seam.
 */
function freshStart(): string {
  const text = `${process.pid}-${++frameNumber}`.padStart(COMMENT_BYTES).slice(-COMMENT_BYTES)
  // The bytes are: start of image, comment marker, and the comment's length including its own two bytes.
  const markers = Buffer.from([0xff, 0xd8, 0xff, 0xfe, 0, 2 + COMMENT_BYTES])
  return Buffer.concat([markers, Buffer.from(text)]).toString('base64')
}

class Caller {
  private readonly http: LeanClient
  private readonly headers: string

  constructor({ origin, key }: ChallengeOrder['target']) {
    this.http = new LeanClient(origin)
    this.headers = `Authorization: Bearer ${key}\r\nContent-Type: application/json\r\n`
  }

  /** @throws Error on any other status, and if `expected` is not in the response */
  async post(path: string, status: number, body: readonly Buffer[], expected = '') {
    const answer = await this.http.send('POST', path, this.headers, body)
    if (answer.status !== status || !answer.body.includes(expected))
      throw new Error(`${path} answered ${answer.status}: ${answer.body}`)
    return answer
  }

  close(): void {
    this.http.close()
  }
}

interface Challenge {
  challenge_id: string
  nonce: string
  steps: Step[]
}

function verifyBody(user: string, { challenge_id, nonce, steps }: Challenge, parts: EncodedParts) {
  const fields = JSON.stringify({
    user_id: user,
    action: ACTION,
    challenge: { challenge_id, nonce, frames: [] },
  })
  const body: Buffer[] = [Buffer.from(fields.slice(0, -']}}'.length))]
  for (const [index, { step, frame }] of filmFor(steps, parts).entries()) {
    const head = JSON.stringify({ step, t_ms: index * FRAME_INTERVAL_MS, image: freshStart() })
    body.push(Buffer.from(`${index > 0 ? ',' : ''}${head.slice(0, -'"}'.length)}`), frame, Buffer.from('"}'))
  }
  body.push(Buffer.from(']}}'))
  return body
}

const enrolled = new Set<string>()

async function perform(order: ChallengeOrder, report: (share: number) => void): Promise<ChallengeLoad> {
  const { target, users, enrolImage, callers, warmUpSeconds, seconds } = order
  const caller = new Caller(target)
  const parts = encode(order.parts)
  const name = (user: number) => `filmed-${user}`
  const image = Buffer.from(enrolImage).toString('base64')
  try {
    for (let user = 0; user < users; user++) {
      if (enrolled.has(name(user))) continue
      await caller.post('/v1/enroll', 201, [Buffer.from(JSON.stringify({ user_id: name(user), image }))])
      enrolled.add(name(user))
    }
    const load: ChallengeLoad = { latenciesMs: [], askedMs: [], stagesMs: [] }
    const startedMs = performance.now()
    const countFromMs = startedMs + warmUpSeconds * 1000
    const endMs = countFromMs + seconds * 1000
    let next = 0
    const loop = async () => {
      for (let beganMs = performance.now(); beganMs < endMs; beganMs = performance.now()) {
        const user = name(next++ % users)
        const ask = [Buffer.from(JSON.stringify({ user_id: user, action: ACTION }))]
        const challenge: Challenge = JSON.parse(
          (await caller.post('/v1/challenges', 201, ask)).body.toString(),
        )
        const askedMs = performance.now()
        const body = verifyBody(user, challenge, parts)
        const sentMs = performance.now()
        const { head } = await caller.post('/v1/verify', 200, body, '"verdict":"approved"')
        const doneMs = performance.now()
        report(Math.min(1, (doneMs - startedMs) / (endMs - startedMs)))
        if (beganMs < countFromMs) continue
        load.askedMs.push(askedMs - beganMs)
        load.latenciesMs.push(doneMs - sentMs)
        load.stagesMs.push(stagesOf(head))
      }
    }
    await Promise.all(Array.from({ length: callers }, loop))
    return load
  } finally {
    caller.close()
  }
}

function stagesOf(head: string): Record<string, number> {
  const stages = [...head.matchAll(/(\w+);dur=([\d.]+)/g)]
  return Object.fromEntries(stages.map(([, stage, ms]) => [stage, Number(ms)]))
}

serveOrders(perform)
