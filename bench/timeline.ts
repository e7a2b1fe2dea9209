/**
 * The timeline suite: what one verify does at every moment between its first and its last byte, over three processes.
 * Unit: milliseconds, median of each span; the whole call against the spans in which a worker computes.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { progressSteps } from '../src/cli/lib/progress.js'
import { describeSizes, takeCaptures } from './lib/captures.js'
import { LeanClient } from './lib/lean-client.js'
import { SERVICE_ROOMS } from './lib/measured-code.js'
import { startService } from './lib/service-process.js'
import { median, round } from './lib/statistics.js'
import { temporaryDir } from './lib/temporary-dir.js'
import { TIMELINE_FILE } from './lib/timeline-events.js'
import { drawTimeline, type Span } from './lib/timeline-picture.js'
import type { Suite } from './suite.js'

/** Number of users: so many that no user's history of captures grows long. */
const USERS = 64
/** Unmeasured calls, in which the JavaScript is compiled. */
const WARM_UP_CALLS = 200
/** Milliseconds to wait for the probe, which writes five times a second. */
const SETTLED_MS = 500

/** A span from one event to another; `computing` is true for work that the bare kernels would do as well. */
const SPANS: ReadonlyArray<{
  thread: Span['thread']
  name: string
  from: string
  to: string
  computing?: true
}> = [
  { thread: 'main thread', name: 'the head to the service', from: 'sent', to: 'route<' },
  { thread: 'main thread', name: 'route, authenticate', from: 'route<', to: 'authenticate>' },
  { thread: 'main thread', name: 'the body to the service', from: 'authenticate>', to: 'idempotency<' },
  {
    thread: 'main thread',
    name: 'hash the payload, claim the key',
    from: 'idempotency<',
    to: 'idempotency>',
  },
  { thread: 'main thread', name: 'parse, decode base64, find the user', from: 'idempotency>', to: 'engine<' },
  { thread: 'worker', name: 'the picture to the worker', from: 'engine<', to: 'analyse<' },
  { thread: 'worker', name: 'decode', from: 'analyse<', to: 'turn<', computing: true },
  { thread: 'worker', name: 'detect', from: 'turn<', to: 'detect>', computing: true },
  { thread: 'worker', name: 'landmarks', from: 'detect>', to: 'landmarks>', computing: true },
  { thread: 'worker', name: 'align, quality', from: 'landmarks>', to: 'embed<', computing: true },
  { thread: 'worker', name: 'embed', from: 'embed<', to: 'analyse>', computing: true },
  { thread: 'main thread', name: 'the result to the main thread', from: 'analyse>', to: 'engine>' },
  { thread: 'main thread', name: 'compare, look for a replay', from: 'engine>', to: 'commit<' },
  { thread: 'main thread', name: 'decide, sign the verdict, commit', from: 'commit<', to: 'commit>' },
  { thread: 'main thread', name: 'sign the response', from: 'commit>', to: 'sign>' },
  { thread: 'main thread', name: 'the answer to the caller', from: 'sign>', to: 'answered' },
]

/** Time of each event in milliseconds on the clock of the probes. */
interface TimedCall {
  sent: number
  answered: number
}

interface Event {
  name: string
  at: number
}

/** Milliseconds since the first byte was sent. */
type Moments = ReadonlyMap<string, number>

export const timeline: Suite = {
  name: 'timeline',
  description: 'one verify from its first byte to its last, over all threads',
  measures: SERVICE_ROOMS,
  defaultSeconds: 15,
  async run({ pack, seconds }) {
    const { enrolImages, verifyImages } = await takeCaptures()
    const file = join(await temporaryDir(), 'timeline')
    const probe = {
      module: new URL('./lib/timeline-probe.js', import.meta.url),
      env: { [TIMELINE_FILE]: file },
    }
    const service = await startService({ pack, probe }, enrolImages[0]!)
    const client = new LeanClient(service.production)
    const call = callerOf(client, service.key)
    for (let user = 0; user < USERS; user++)
      await call('enroll', user, enrolImages[user % enrolImages.length]!)
    const verify = (turn: number) => call('verify', turn % USERS, verifyImages[turn % verifyImages.length]!)
    let turn = 0
    while (turn < WARM_UP_CALLS) await verify(turn++)
    const progress = progressSteps('timeline')
    const calls: TimedCall[] = []
    const startedMs = performance.now()
    for (let passed = 0; passed < seconds * 1000; passed = performance.now() - startedMs) {
      calls.push(await verify(turn++))
      progress.update(Math.round(passed / 10), seconds * 100, 'one caller')
    }
    progress.stop()
    await sleep(SETTLED_MS)
    client.close()
    await service.stop()

    const events = readEvents(file)
    const observed = calls.flatMap((one) => momentsOf(one, events) ?? [])
    if (observed.length === 0) throw new Error('no call was seen from one end to the other')
    const spans = typicalSpans(observed)
    const wholeMs = median(calls.map(({ sent, answered }) => answered - sent))
    const computingMs = sum(spans.filter(({ isComputing }) => isComputing))
    const rows = spans.map(({ thread, name, fromMs, toMs, isComputing }, i) => [
      String(i + 1),
      thread,
      name,
      (toMs - fromMs).toFixed(3),
      isComputing ? 'computing' : '',
    ])
    return {
      suite: 'timeline',
      model: pack.modelId,
      seconds,
      summary: {
        whole_ms: round(wholeMs, 3),
        computing_ms: round(computingMs, 3),
        other_ms: round(wholeMs - computingMs, 3),
        ratio: round(wholeMs / computingMs, 3),
      },
      tables: [
        {
          title: 'One verify, milliseconds',
          rows: [['', 'who', 'what', 'median', ''], ...rows],
        },
      ],
      picture: drawTimeline('One verify, one caller', spans),
      notes: [
        `Images: ${describeSizes(verifyImages)}. ${observed.length} calls of one caller, ${USERS} users, idempotency keys.`,
        'Each figure is the median over the calls; medians do not quite add up. Spans of the worker that are not computing are the way to it: socket, wake-up, frame.',
        'While the worker computes, the main thread hashes the picture and reads what is remembered of earlier captures; that costs the caller nothing and is not shown.',
        'The moments are noted by a probe that is loaded into all processes, whose own time is in the figures.',
      ],
      details: { calls: observed.length, spans },
      failures: [],
    }
  },
}

/** Milliseconds on the clock of the probes. */
function now(): number {
  return Number(process.hrtime.bigint()) / 1e6
}

function callerOf(client: LeanClient, key: string) {
  let sequence = 0
  return async (operation: 'enroll' | 'verify', user: number, image: Buffer): Promise<TimedCall> => {
    const fields = operation === 'verify' ? { action: { type: 'wire_transfer', amount: '1250.00' } } : {}
    const body = Buffer.from(
      JSON.stringify({ user_id: `user-${user}`, ...fields, image: image.toString('base64') }),
    )
    const headers = `Authorization: Bearer ${key}\r\nContent-Type: application/json\r\nX-Svc-Idempotency-Key: ${operation}-${++sequence}\r\n`
    const sent = now()
    const answer = await client.send('POST', `/v1/${operation}`, headers, [body])
    const answered = now()
    const isDone = operation === 'enroll' ? answer.status === 201 : answer.body.includes('"approved"')
    if (!isDone) throw new Error(`${operation} answered ${answer.status}: ${answer.body}`)
    return { sent, answered }
  }
}

/** Events of all processes, in order of time. */
function readEvents(file: string): Event[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.split(' '))
    .map(([name, at]) => ({ name: name!, at: Number(at) }))
    .toSorted((a, b) => a.at - b.at)
}

/** Returns the first time at which one call passed each place; null if a place is missing. */
function momentsOf({ sent, answered }: TimedCall, events: readonly Event[]): Moments | null {
  const moments = new Map([['sent', 0]])
  // The detector may run twice, and a single decoded picture is embedded without others.
  for (const { name, at } of events.filter(({ at }) => at >= sent && at <= answered))
    if (!moments.has(name) || name === 'detect>') moments.set(name, at - sent)
  moments.set('answered', answered - sent)
  return SPANS.every(({ from, to }) => moments.has(from) && moments.has(to)) ? moments : null
}

/** One after the other, each as long as its median. */
function typicalSpans(observed: readonly Moments[]): Span[] {
  let fromMs = 0
  return SPANS.map(({ thread, name, from, to, computing = false }) => {
    const tookMs = median(observed.map((moments) => moments.get(to)! - moments.get(from)!))
    const span = { thread, name, fromMs, toMs: fromMs + tookMs, isComputing: computing }
    fromMs = span.toMs
    return span
  })
}

function sum(spans: readonly Span[]): number {
  return spans.reduce((total, { fromMs, toMs }) => total + toMs - fromMs, 0)
}
