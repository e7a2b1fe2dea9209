/** Runs a peer's process for the suite: one JSON document a line each way, one order at a time. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { onCleanUp } from '../lib/clean-up.js'
import { PEERS } from './install.js'

export interface LoopOrder {
  type: 'loop'
  warmUpSeconds: number
  seconds: number
  /** Index of the first picture, so that processes do not work in step. */
  firstTurn: number
  /** Number of threads, for peers with threads of their own. */
  threads: number
  /** Number of requests at once, for peers behind HTTP. */
  callers: number
}

/** Pairs are indices into `photos`. */
export interface EvaluateOrder {
  type: 'evaluate'
  photos: string[]
  pairs: Array<[number, number]>
}

export interface LoopAnswer {
  latenciesMs: number[]
  /** Milliseconds on the machine's monotonic axis. */
  doneAtMs: number[]
}

export interface EvaluateAnswer {
  /** Number of photos without a face. */
  missed: number
  /** Scores; null for a pair with such a photo. */
  scores: Array<number | null>
}

type Facts = Record<string, unknown>
type Line = Facts & { error?: string }

const START_TIMEOUT_MS = 120_000
const STDERR_KEPT = 4000

export class PeerRunner {
  /** Facts that the peer reports. */
  facts: Facts = {}
  private readonly lines: AsyncIterator<string>
  private complaints = ''

  private constructor(private readonly child: ChildProcessWithoutNullStreams) {
    this.lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.complaints = (this.complaints + text).slice(-STDERR_KEPT)
    })
    // The process's end shows on stdout.
    child.on('error', (error) => {
      this.complaints += error.message
    })
    child.stdin.on('error', () => {})
  }

  /** @throws Error with the process's last lines if it does not start */
  static async start(program: string, script: string, setupFile: string): Promise<PeerRunner> {
    const child = spawn(program, [`${PEERS}/${script}`, setupFile], { cwd: PEERS, detached: true })
    const runner = new PeerRunner(child)
    onCleanUp(() => runner.stop())
    const timer = setTimeout(() => child.kill('SIGKILL'), START_TIMEOUT_MS)
    try {
      const { ready: _, ...facts } = await runner.read()
      runner.facts = facts
    } finally {
      clearTimeout(timer)
    }
    return runner
  }

  ask(order: LoopOrder): Promise<LoopAnswer>
  ask(order: EvaluateOrder): Promise<EvaluateAnswer>
  async ask(order: LoopOrder | EvaluateOrder): Promise<unknown> {
    this.child.stdin.write(`${JSON.stringify(order)}\n`)
    return this.read()
  }

  /** Closes the channel and waits for the end; a peer that does not end is killed. */
  async stop(): Promise<void> {
    const { child } = this
    if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'exit')
    child.stdin.end()
    const timer = setTimeout(() => child.kill('SIGKILL'), 5000)
    await ended
    clearTimeout(timer)
  }

  private async read(): Promise<Line> {
    const { value, done } = await this.lines.next()
    if (done) throw new Error(summarise(this.complaints))
    const line = JSON.parse(value as string) as Line
    if (line.error) throw new Error(summarise(line.error))
    return line
  }
}

/** Returns the line that names the error, for a table. */
function summarise(complaints: string): string {
  const lines = complaints
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean)
  const named = lines.findLast((line) => /error/i.test(line)) ?? lines.at(-1) ?? 'the process ended'
  return named.replaceAll(`${PEERS}/`, '').slice(0, 240)
}
