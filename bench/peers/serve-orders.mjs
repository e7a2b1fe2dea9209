/**
 * The peer's side of the protocol: one JSON document a line, orders on stdin, results on stdout. Orders are `loop`
 * (as many verifications as fit, one after the other) and `evaluate` (scores of labeled pairs).
 */
import { createInterface } from 'node:readline'

const answerTo = process.stdout.write.bind(process.stdout)
// Libraries print greetings on stdout, which is reserved for results.
console.log = console.info = console.error

/** Milliseconds on the machine's monotonic axis. */
export const nowMs = () => Number(process.hrtime.bigint()) / 1e6

/** Minimum number of measured verifications of a round, however slow they are. */
const MIN_MEASURED = 3

/** @param {(turn: number) => Promise<unknown>} verify throws if it finds no face */
export async function closedLoop(verify, { warmUpSeconds, seconds }, firstTurn = 0) {
  const countFromMs = nowMs() + warmUpSeconds * 1000
  const endMs = countFromMs + seconds * 1000
  const latenciesMs = []
  const doneAtMs = []
  let turn = firstTurn
  for (let beganMs = nowMs(); beganMs < endMs || latenciesMs.length < MIN_MEASURED; ) {
    await verify(turn++)
    const doneMs = nowMs()
    if (beganMs >= countFromMs) {
      latenciesMs.push(doneMs - beganMs)
      doneAtMs.push(doneMs)
    }
    beganMs = doneMs
  }
  return { latenciesMs, doneAtMs, turns: turn }
}

/**
 * @param {string[]} photos
 * @param {(photo: string) => Promise<unknown>} embed returns null if no face was found
 */
export async function scorePairs({ photos, pairs }, embed, score) {
  const embeddings = []
  for (const photo of photos) embeddings.push(await embed(photo))
  return {
    missed: embeddings.filter((embedding) => embedding === null).length,
    scores: pairs.map(([a, b]) =>
      embeddings[a] === null || embeddings[b] === null ? null : score(embeddings[a], embeddings[b]),
    ),
  }
}

/** @param {object} facts facts that the peer reports: version, threads */
export async function serveOrders(facts, perform) {
  const answer = (document) => answerTo(`${JSON.stringify(document)}\n`)
  answer({ ready: true, ...facts })
  for await (const line of createInterface({ input: process.stdin })) {
    answer(await perform(JSON.parse(line)).catch((error) => ({ error: String(error?.stack ?? error) })))
  }
  process.exit(0)
}

/** The document with which the suite starts every peer. */
export async function readSetup() {
  const { readFile } = await import('node:fs/promises')
  return JSON.parse(await readFile(process.argv[2], 'utf8'))
}
