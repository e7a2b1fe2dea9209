/**
 * A process that decodes one picture after the other for one thread and can be killed, unlike a decoder inside a
 * thread. It is started when the first picture needs it and ends when no picture has needed it for a while.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import type { Readable } from 'node:stream'
import { encodeFrame, type Frame, FrameError, FrameReader } from '../channel/frames.js'
import { BiometricError } from '../types.js'
import type { DecodedImage } from './decode-pixels.js'
import type { DecodingLimits } from './picture-size-limits.js'

/** From the process: first `ready`, then one message for each picture, whose pixels are the frame's only part. */
export type DecoderMessage =
  | { kind: 'ready' }
  | { kind: 'decoded'; image: Omit<DecodedImage, 'pixels'>; width: number; height: number }
  | { kind: 'refused'; code: 'image_unreadable' | 'image_too_large' | 'image_too_small'; message: string }
  | { kind: 'failed'; reason: string }

/** To the process, with the picture as the frame's only part. */
export interface DecoderTask {
  limits: DecodingLimits
}

/** File descriptor on which the process answers: native libraries may print to standard output. */
export const ANSWERS_FD = 3

interface Job {
  bytes: Uint8Array
  limits: DecodingLimits
  resolve: (image: DecodedImage) => void
  reject: (error: Error) => void
  /** Set once the result of the job is known and its decoder is being killed. */
  end?: Error
}

/**
 * Maximum time for one picture, in milliseconds. The largest picture that the default limits accept takes 1.0 s of
 * CPU time (24 megapixels of 16 bits with transparency, interlaced); the rest is for a busy machine.
 */
export const DECODING_DEADLINE_MS = 4_000
/** Maximum time to start, in milliseconds; it takes 200 on an idle machine. */
const START_DEADLINE_MS = 10_000
/** Time without a picture, in milliseconds, after which the process is ended: it holds some 60 MB. */
const IDLE_MS = 60_000
/**
 * Maximum size of an answer, in bytes: at most 3,199 × 3,199 pixels of three bytes are decoded, since larger pictures
 * are decoded at a fraction of their size.
 */
const MAX_ANSWER_BYTES = 3_199 * 3_199 * 3 + 65_536

export class DecoderProcess {
  private child: ChildProcess | undefined
  private isReady = false
  private isRetired = false
  private readonly waiting: Job[] = []
  private running: Job | undefined
  private deadline: NodeJS.Timeout | undefined
  private idle: NodeJS.Timeout | undefined

  constructor(private readonly deadlineMs: number = DECODING_DEADLINE_MS) {}

  get processId(): number | undefined {
    return this.child?.pid
  }

  /**
   * Decodes a picture as soon as those before it are done. The bytes are read until the promise has settled.
   * @param signal ends the work at once: the decoder that has the picture is killed
   * @throws BiometricError image_unreadable, also where decoding takes longer than the deadline; image_too_large,
   * image_too_small; cancelled
   */
  decode(bytes: Uint8Array, limits: DecodingLimits, signal?: AbortSignal): Promise<DecodedImage> {
    return new Promise<DecodedImage>((resolve, reject) => {
      const job: Job = { bytes, limits, resolve, reject }
      const onAbort = () => this.cancel(job)
      const settled =
        <T>(settle: (value: T) => void) =>
        (value: T) => {
          signal?.removeEventListener('abort', onAbort)
          settle(value)
        }
      job.resolve = settled(resolve)
      job.reject = settled(reject)
      if (signal?.aborted) return reject(cancelled())
      signal?.addEventListener('abort', onAbort, { once: true })
      this.waiting.push(job)
      this.next()
    })
  }

  /** Ends the process; the picture that it decodes fails. */
  close(): void {
    clearTimeout(this.idle)
    this.child?.kill('SIGKILL')
  }

  private next(): void {
    if (this.running || this.waiting.length === 0) return
    clearTimeout(this.idle)
    if (!this.child) this.start()
    else hold(this.child)
    if (!this.child || !this.isReady) return
    const job = this.waiting.shift()!
    this.running = job
    this.deadline = setTimeout(() => this.kill(tooSlow(this.deadlineMs)), this.deadlineMs)
    const task: DecoderTask = { limits: job.limits }
    for (const piece of encodeFrame(task, [job.bytes])) this.child.stdin!.write(piece)
  }

  private start(): void {
    const host = createRequire(import.meta.url).resolve('#decoder-host')
    // One thread decodes, another answers.
    const env = { ...process.env, UV_THREADPOOL_SIZE: '2' }
    const child = spawn(process.execPath, [host], { env, stdio: ['pipe', 2, 2, 'pipe'] })
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
    child.once('close', (code, signal) =>
      this.onEnd(failure ?? new Error(`the decoder process ended with ${signal ?? `exit code ${code}`}`)),
    )
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
    const settle = settlementOf(message, images)
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
    release(child)
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
function settlementOf(message: DecoderMessage, images: Uint8Array[]): (job: Job) => void {
  switch (message.kind) {
    case 'decoded': {
      const { image, width, height } = message
      const [data] = images
      if (!data || !isSize(width, height) || data.length !== width * height * 3 || !isImage(image)) break
      return (job) => job.resolve({ ...image, pixels: { data, width, height } })
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

function tooSlow(deadlineMs: number): BiometricError {
  const message = `The image takes longer than ${deadlineMs / 1000} s to decode; save it again as an ordinary JPEG.`
  return new BiometricError('image_unreadable', message)
}

function cancelled(): BiometricError {
  return new BiometricError('cancelled', 'The call was cancelled.')
}

type Held = { ref(): void; unref(): void }

/** Keeps the thread alive while a picture is waited for. */
function hold(child: ChildProcess): void {
  for (const handle of handlesOf(child)) handle.ref()
}

function release(child: ChildProcess): void {
  for (const handle of handlesOf(child)) handle.unref()
}

function handlesOf(child: ChildProcess): Held[] {
  return [child, child.stdin, child.stdio[ANSWERS_FD]] as unknown as Held[]
}
