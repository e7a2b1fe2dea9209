/** Asks for guidance repeatedly, with a small frame each time and one question at a time. */
import type { CaptureDetector } from './capture-events.js'
import type { CaptureStep } from './capture-plan.js'
import { FrameGrabber } from './frame-grabber.js'
import type { CaptureGuidance } from './guidance-codes.js'

const FRAME = { maxSide: 320, quality: 0.8 } as const
const INTERVAL_MS = 700
const ANSWER_MS = 3000
/** Longest time between two questions while no answer comes. */
const MAX_INTERVAL_MS = 10_000

export interface GuideParts {
  video: HTMLVideoElement
  ask: CaptureDetector
  /** Returns the step that is shown, which may change between question and answer. */
  step(): CaptureStep
  /** Called with each answer about the step that is still shown, or with null when no answer came. */
  onAnswer(guidance: readonly CaptureGuidance[] | null, step: CaptureStep): void
  /** Ends the questions. */
  signal: AbortSignal
}

export class Guide {
  private readonly grabber: FrameGrabber
  private timer: ReturnType<typeof setTimeout> | undefined
  private isAsking = false
  private failures = 0
  /** Whether the head went far enough for the step: after that it comes back, and no more questions are asked. */
  private isReached = false

  constructor(private readonly parts: GuideParts) {
    this.grabber = new FrameGrabber(parts.video, FRAME)
    parts.signal.addEventListener('abort', () => clearTimeout(this.timer))
    this.askLater()
  }

  /** Call it when another step is shown: the next question then waits, since the person needs a moment to begin. */
  restart(): void {
    this.isReached = false
    if (!this.isAsking) this.askLater()
  }

  private askLater(): void {
    clearTimeout(this.timer)
    if (this.parts.signal.aborted) return
    const intervalMs = Math.min(INTERVAL_MS * 2 ** this.failures, MAX_INTERVAL_MS)
    this.timer = setTimeout(() => void this.ask(), intervalMs)
  }

  private async ask(): Promise<void> {
    const { parts } = this
    const step = parts.step()
    if (this.isReached) return
    this.isAsking = true
    const guidance = await this.answer(step)
    this.isAsking = false
    if (parts.signal.aborted) return
    this.failures = guidance ? 0 : this.failures + 1
    if (step === parts.step()) {
      this.isReached = step !== 'frontal' && guidance?.length === 0
      parts.onAnswer(guidance, step)
    }
    this.askLater()
  }

  /** The guidance for the step, or null when no valid answer comes: the person then goes on without guidance. */
  private async answer(step: CaptureStep): Promise<readonly CaptureGuidance[] | null> {
    const { ask, signal } = this.parts
    const question = new AbortController()
    const end = () => question.abort()
    const late = setTimeout(end, ANSWER_MS)
    signal.addEventListener('abort', end)
    const given = new Promise<null>((resolve) => {
      question.signal.addEventListener('abort', () => resolve(null))
    })
    try {
      const frame = await this.grabber.grab()
      const answer = await Promise.race([ask(frame, step, question.signal), given])
      return Array.isArray(answer) ? answer : null
    } catch {
      return null
    } finally {
      clearTimeout(late)
      signal.removeEventListener('abort', end)
    }
  }
}

/** Sends frames to the page's own backend, which asks the service. */
export function askBackend(url: string): CaptureDetector {
  return async (frame, step, signal) => {
    const address = new URL(url, document.baseURI)
    address.searchParams.set('step', step)
    const headers = { 'Content-Type': 'image/jpeg' }
    const response = await fetch(address, { method: 'POST', headers, body: frame, signal })
    if (!response.ok) throw new Error(`guidance: ${response.status}`)
    const { guidance } = await response.json()
    return guidance
  }
}
