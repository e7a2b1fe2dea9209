/**
 * A process that decodes one picture after the other for one thread. Unlike a decoder inside a thread it can be killed,
 * and on Linux the kernel limits its memory. It is started when the first picture needs it and ends when no picture has
 * needed it for a while.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Readable } from 'node:stream'
import { BiometricError, cancelled } from '../../biometric-error.js'
import { type Frame, FrameError, FrameReader, writeFrame } from '../../channel/frames.js'
import type { DecodedImage, EncodedImage } from './decode-pixels.js'
import { DECODING_BUDGET, type DecodingBudget } from './decoding-budget.js'
import { sniffImageFormat } from './image-format.js'
import type { DecodingLimits } from './picture-size-limits.js'

/** From the process: first `ready`, then one message for each picture, whose pixels or PNG are the frame's only part. */
export type DecoderMessage =
  | { kind: 'ready' }
  | { kind: 'decoded'; image: Omit<DecodedImage, 'pixels'>; width: number; height: number }
  | { kind: 'encoded'; width: number; height: number }
  | { kind: 'refused'; code: 'image_unreadable' | 'image_too_large' | 'image_too_small'; message: string }
  | { kind: 'out_of_memory' }
  | { kind: 'failed'; reason: string }

/** To the process, with the picture as the frame's only part. */
export interface DecoderTask {
  limits: DecodingLimits
  /** Largest size of a PNG, in pixels, that is wanted instead of pixels. */
  png?: { width: number; height: number }
}

/** File descriptor on which the process answers: native libraries may print to standard output. */
export const ANSWERS_FD = 3

interface Job {
  bytes: Uint8Array
  task: DecoderTask
  resolve: (image: DecodedImage | EncodedImage) => void
  reject: (error: Error) => void
  /** Set once the result of the job is known and its decoder is being killed. */
  end?: Error
}

/** Maximum time to start, in milliseconds; it takes 200 on an idle machine. */
const START_DEADLINE_MS = 10_000
/** Time without a picture, in milliseconds, after which the process is ended: it holds some 60 MB. */
const IDLE_MS = 60_000
/**
 * Maximum size of an answer, in bytes: at most 3,199 × 3,199 pixels of three bytes are decoded, since larger pictures
 * are decoded at a fraction of their size.
 */
const MAX_ANSWER_BYTES = 3_199 * 3_199 * 3 + 65_536

/**
 * Signals by which Node.js and libvips end their process where they get no memory for a small thing. A large thing is
 * only refused, which the process reports.
 */
const OUT_OF_MEMORY_SIGNALS: ReadonlyArray<NodeJS.Signals | null> = ['SIGABRT', 'SIGTRAP']
/**
 * Lowers the limit of private memory (`RLIMIT_DATA`, which counts writable private mappings since Linux 4.7) and starts
 * the program. A lower limit that holds already is kept. Address space could not be limited: Node.js reserves far more
 * of it than it uses.
 */
const LIMITED = ['-c', 'ulimit -d "$1" 2>/dev/null; shift; exec "$@"', 'sh'] as const
const SHELL = '/bin/sh'
/** Elsewhere (macOS, an image without a shell) no means was found that holds: a decoder's memory is not limited. */
const CAN_LIMIT_MEMORY = process.platform === 'linux' && existsSync(SHELL)

export class DecoderProcess {
  private child: ChildProcess | undefined
  private isReady = false
  private isRetired = false
  private readonly waiting: Job[] = []
  private running: Job | undefined
  private deadline: NodeJS.Timeout | undefined
  private idle: NodeJS.Timeout | undefined

  get processId(): number | undefined {
    return this.child?.pid
  }

  /**
   * Decodes a picture as soon as those before it are done. The bytes are read until the promise has settled.
   * @param signal ends the work at once: the decoder that has the picture is killed
   * @throws BiometricError image_unreadable, also where decoding takes longer or more memory than the budget;
   * image_too_large, image_too_small; cancelled
   */
  decode(bytes: Uint8Array, limits: DecodingLimits, signal?: AbortSignal): Promise<DecodedImage> {
    return this.perform(bytes, { limits }, signal) as Promise<DecodedImage>
  }

  /**
   * Decodes a picture and encodes it again as a PNG of at most this size.
   * @throws BiometricError as `decode`
   */
  encodeAsPng(
    bytes: Uint8Array,
    limits: DecodingLimits,
    png: { width: number; height: number },
  ): Promise<EncodedImage> {
    return this.perform(bytes, { limits, png }) as Promise<EncodedImage>
  }

  /** @returns what `settlementOf` has checked to be the result of such a task */
  private perform(
    bytes: Uint8Array,
    task: DecoderTask,
    signal?: AbortSignal,
  ): Promise<DecodedImage | EncodedImage> {
    if (signal?.aborted) return Promise.reject(cancelled())
    let onAbort = () => {}
    const settled = new Promise<DecodedImage | EncodedImage>((resolve, reject) => {
      const job: Job = { bytes, task, resolve, reject }
      onAbort = () => this.cancel(job)
      signal?.addEventListener('abort', onAbort, { once: true })
      this.waiting.push(job)
      this.next()
    })
    return settled.finally(() => signal?.removeEventListener('abort', onAbort))
  }

  /** Ends the process; the picture that it decodes fails. */
  close(): void {
    clearTimeout(this.idle)
    this.child?.kill('SIGKILL')
  }

  private next(): void {
    if (this.running || this.waiting.length === 0) return
    clearTimeout(this.idle)
    if (!this.child) this.start(budgetOf(this.waiting[0]!))
    else for (const handle of handlesOf(this.child)) handle.ref()
    if (!this.child || !this.isReady) return
    const job = this.waiting.shift()!
    this.running = job
    const budget = budgetOf(job)
    this.deadline = setTimeout(() => this.kill(tooSlow(budget)), budget.deadlineMs)
    writeFrame(this.child.stdin!, job.task, [job.bytes])
  }

  /** @param budget of the first picture; `memoryBytes` is the same for all pictures of an engine */
  private start(budget: DecodingBudget): void {
    const host = createRequire(import.meta.url).resolve('#decoder-host')
    // One thread decodes, another answers. More arenas of glibc would keep more freed memory, up to the limit.
    const env = { ...process.env, UV_THREADPOOL_SIZE: '2', MALLOC_ARENA_MAX: '2' }
    const program = [process.execPath, host]
    const kibibytes = String(Math.floor(budget.memoryBytes / 1024))
    const [command, ...args] = CAN_LIMIT_MEMORY ? [SHELL, ...LIMITED, kibibytes, ...program] : program
    const child = spawn(command!, args, { env, stdio: ['pipe', 2, 2, 'pipe'] })
    this.child = child
    this.isReady = false
    this.isRetired = false
    this.deadline = setTimeout(() => child.kill('SIGKILL'), START_DEADLINE_MS)
    const reader = new FrameReader<DecoderMessage>(MAX_ANSWER_BYTES, (frame) => this.take(frame))
    const answers = child.stdio[ANSWERS_FD] as Readable
    answers.on('data', (chunk: Uint8Array) => {
      try {
        reader.push(chunk)
      } catch (error) {
        // A picture may have compromised the process.
        this.kill(error as Error)
      }
    })
    // Each of these is followed by the process's `close` event, which handles the loss.
    answers.on('error', () => {})
    child.stdin!.on('error', () => {})
    let failure: Error | undefined
    child.once('error', (error) => {
      failure = error
      // Without a process there is no `close` event.
      if (child.pid === undefined) this.onEnd(failure)
    })
    // Only now is the memory of everything written to the process released.
    child.once('close', (code, signal) => {
      const job = this.running
      if (job && OUT_OF_MEMORY_SIGNALS.includes(signal)) job.end ??= tooLarge(budgetOf(job))
      this.onEnd(failure ?? new Error(`the decoder process ended with ${signal ?? `exit code ${code}`}`))
    })
  }

  private take({ message, images }: Frame<DecoderMessage>): void {
    if (!this.isReady) {
      if (message.kind !== 'ready') throw new FrameError('a decoder that answers before it is asked')
      clearTimeout(this.deadline)
      this.isReady = true
      this.nextOrRest()
      return
    }
    const job = this.running
    if (!job || job.end) return
    // The next picture gets a fresh process, because this one may keep memory that it has freed.
    if (message.kind === 'out_of_memory') {
      this.kill(tooLarge(budgetOf(job)))
      return
    }
    const settle = settlementOf(job.task, message, images)
    clearTimeout(this.deadline)
    this.running = undefined
    settle(job)
    this.nextOrRest()
  }

  private nextOrRest(): void {
    if (this.waiting.length > 0) this.next()
    else this.rest()
  }

  /** Lets the thread end without the process, which is ended after a while, because no picture is left. */
  private rest(): void {
    const child = this.child!
    for (const handle of handlesOf(child)) handle.unref()
    this.idle = setTimeout(() => {
      // A picture that comes before the process has ended waits for the next one.
      this.isReady = false
      this.isRetired = true
      child.kill('SIGKILL')
    }, IDLE_MS).unref()
  }

  private cancel(job: Job): void {
    const position = this.waiting.indexOf(job)
    if (position >= 0) {
      this.waiting.splice(position, 1)
      job.reject(cancelled())
    } else if (job === this.running) this.kill(cancelled())
  }

  /** @param end settles the picture that is being decoded */
  private kill(end: Error): void {
    if (this.running) this.running.end ??= end
    this.child?.kill('SIGKILL')
  }

  private onEnd(reason: Error): void {
    clearTimeout(this.deadline)
    clearTimeout(this.idle)
    const couldStart = this.isReady || this.isRetired
    const job = this.running
    this.child = undefined
    this.running = undefined
    this.isReady = false
    job?.reject(job.end ?? reason)
    // A process that could not even start would not start for the waiting pictures either.
    if (!couldStart) for (const one of this.waiting.splice(0)) one.reject(reason)
    this.next()
  }
}

/** Settles the picture with an answer. @throws FrameError for anything but an answer: the process may be compromised */
function settlementOf(
  { png }: DecoderTask,
  message: DecoderMessage,
  images: Uint8Array[],
): (job: Job) => void {
  const [data] = images
  switch (message.kind) {
    case 'decoded': {
      const { image, width, height } = message
      if (png || !data || !isSize(width, height) || data.length !== width * height * 3 || !isImage(image))
        break
      return (job) => job.resolve({ ...image, pixels: { data, width, height } })
    }
    case 'encoded': {
      const { width, height } = message
      if (!png || !data || sniffImageFormat(data) !== 'png') break
      if (!isSize(width, height) || width > png.width || height > png.height) break
      return (job) => job.resolve({ png: data, width, height })
    }
    case 'refused': {
      const { code, message: text } = message
      if (!/^image_(unreadable|too_large|too_small)$/.test(code) || typeof text !== 'string') break
      return (job) => job.reject(new BiometricError(code, text))
    }
    case 'failed':
      return (job) => job.reject(new Error(`the decoder process failed: ${message.reason}`))
  }
  throw new FrameError('an answer of the decoder process that is none')
}

function isImage({ format, width, height, sourceScale }: Omit<DecodedImage, 'pixels'>): boolean {
  return /^(jpeg|png|webp)$/.test(format) && isSize(width, height) && sourceScale >= 1 && sourceScale < 100
}

function isSize(width: number, height: number): boolean {
  return Number.isInteger(width) && Number.isInteger(height) && width > 0 && height > 0
}

function budgetOf({ task }: Job): DecodingBudget {
  return { ...DECODING_BUDGET, ...task.limits.decoding }
}

function tooSlow({ deadlineMs }: DecodingBudget): BiometricError {
  return tooCostly(`longer than ${deadlineMs / 1000} s`)
}

function tooLarge({ memoryBytes }: DecodingBudget): BiometricError {
  return tooCostly(`more than ${Math.round(memoryBytes / 1024 / 1024)} MiB of memory`)
}

function tooCostly(what: string): BiometricError {
  const message = `The image takes ${what} to decode; save it again as an ordinary JPEG.`
  return new BiometricError('image_unreadable', message)
}

/** The handles that keep the thread alive while a picture is waited for. */
function handlesOf(child: ChildProcess): Array<{ ref(): void; unref(): void }> {
  return [child, child.stdin, child.stdio[ANSWERS_FD]] as never
}
