/**
 * `<countersign-capture>`: takes photos of a face, or the frames of a challenge, and hands them to the page. It sends nothing
 * anywhere and judges nothing; what it hands over proves nothing until the service has checked it.
 */
import { Camera, type CameraChoice } from './camera.js'
import { CaptureError, type CaptureErrorCode, toCaptureError } from './capture-error.js'
import type { CaptureDetail, CaptureEvents } from './capture-events.js'
import { type CaptureChallenge, type CaptureStep, planCapture } from './capture-plan.js'
import { type CaptureMessages, messagesIn } from './capture-texts.js'
import { type CaptureState, CaptureView } from './capture-view.js'
import { type CapturedFrame, captureChallenge } from './challenge-capture.js'
import { FrameGrabber } from './frame-grabber.js'

export type { CaptureDetail, CaptureEvents, ErrorDetail, ReadyDetail, StepDetail } from './capture-events.js'
export type { CameraChoice, CaptureChallenge, CapturedFrame, CaptureErrorCode, CaptureMessages, CaptureStep }

declare global {
  interface HTMLElementTagNameMap {
    'countersign-capture': CountersignCapture
  }
  interface HTMLElementEventMap extends CaptureEvents {}
}

/** Defaults of the attributes, in pixels and milliseconds. */
const DEFAULTS = {
  maxSide: { photo: 1280, challenge: 640 },
  quality: 0.85,
  intervalMs: 200,
  stepMs: 1600,
  timeoutMs: 120_000,
} as const
const LEAST_STEP_MS = 1000
const PROMPT_HINT_MS = 10_000
/** What a page may have set before the class was there. */
const PROPERTIES = ['challenge', 'messages'] as const

// Imported where there is no page, as by a server that renders one, the class is there and cannot be used.
const Base = globalThis.HTMLElement ?? (class {} as typeof HTMLElement)

export class CountersignCapture extends Base {
  static readonly observedAttributes = ['lang', 'mode']

  private readonly view = new CaptureView(this.attachShadow({ mode: 'open' }), {
    start: () => void this.start(),
    capture: () => void this.capture(),
    cancel: () => this.cancel(),
    retry: () => void this.retry(),
    useCamera: async (id) => {
      await this.useCamera(id)
      this.view.focusCamera()
    },
  })
  private state: CaptureState = 'idle'
  private error: CaptureError | null = null
  /** From `start` to the moment at which the camera is off again; null in between. */
  private run: AbortController | null = null
  private asked: CaptureChallenge | null = null
  private expiresAtMs = Number.POSITIVE_INFINITY
  private ownMessages: Partial<CaptureMessages> = {}

  constructor() {
    super()
    this.addEventListener('keydown', (event) => {
      if (event.key !== 'Escape' || !this.run) return
      // A dialog around it stays open.
      event.preventDefault()
      event.stopPropagation()
      this.cancel()
    })
  }

  /** The answer of `POST /v1/challenges`, with or without its nonce. It can come as late as `cs-ready`. */
  get challenge(): CaptureChallenge | null {
    return this.asked
  }

  set challenge(challenge: CaptureChallenge | null) {
    this.asked = challenge
    this.expiresAtMs = challenge ? performance.now() + challenge.expires_in * 1000 : Number.POSITIVE_INFINITY
    if (this.state === 'live') this.enter('live')
  }

  /** Texts of the page's own, in the place of those that have the same names. */
  get messages(): Partial<CaptureMessages> {
    return this.ownMessages
  }

  set messages(messages: Partial<CaptureMessages>) {
    this.ownMessages = messages
    this.render()
  }

  get mode(): 'photo' | 'challenge' {
    return this.getAttribute('mode') === 'challenge' ? 'challenge' : 'photo'
  }

  connectedCallback(): void {
    for (const name of PROPERTIES) this.adopt(name)
    this.render()
    document.addEventListener('visibilitychange', this.onVisibility)
  }

  disconnectedCallback(): void {
    document.removeEventListener('visibilitychange', this.onVisibility)
    this.end()
    this.state = 'idle'
  }

  attributeChangedCallback(): void {
    this.render()
  }

  /** Asks for the camera and shows its picture. Resolves when it is shown, given up or refused: the events say which. */
  async start(): Promise<void> {
    if (this.run) return
    const run = new AbortController()
    this.run = run
    this.error = null
    this.enter('opening')
    const hint = setTimeout(() => this.remind(), PROMPT_HINT_MS)
    const late = () => this.fail(run, new CaptureError('timeout'))
    const timer = setTimeout(late, this.number('timeout', DEFAULTS.timeoutMs, 1))
    run.signal.addEventListener('abort', () => {
      clearTimeout(hint)
      clearTimeout(timer)
    })
    try {
      const { video } = this.view
      const request = {
        facing: this.getAttribute('facing') ?? 'user',
        cameraId: this.getAttribute('camera-id'),
      }
      const camera = await Camera.open(video, request, run.signal)
      clearTimeout(hint)
      const cameras = await Camera.list()
      if (run.signal.aborted) return
      camera.onLost(() => this.fail(run, new CaptureError('camera_lost')))
      this.view.isMirrored = camera.isMirrored
      this.view.setCameras(cameras, camera.id)
      this.enter('live')
      this.emit('cs-ready', { width: video.videoWidth, height: video.videoHeight })
    } catch (error) {
      this.fail(run, toCaptureError(error))
    }
  }

  /**
   * Takes the photo, or the frames of the challenge; nothing before the picture is shown.
   * @throws TypeError in challenge mode without a challenge
   */
  async capture(): Promise<void> {
    const { run } = this
    if (!run || this.state !== 'live') return
    if (this.mode === 'challenge' && !this.asked) throw new TypeError('set `challenge` before `capture`')
    const grabber = new FrameGrabber(this.view.video, {
      maxSide: this.number('max-side', DEFAULTS.maxSide[this.mode], 1),
      quality: this.number('quality', DEFAULTS.quality, 0),
    })
    this.enter('capturing')
    try {
      const detail: CaptureDetail =
        this.mode === 'photo'
          ? { mode: 'photo', images: [await grabber.grab()] }
          : { mode: 'challenge', frames: await this.frames(this.asked!, grabber, run.signal) }
      if (run.signal.aborted) return
      this.end()
      this.enter('done')
      this.emit('cs-capture', detail)
    } catch (error) {
      this.fail(run, toCaptureError(error))
    }
  }

  /** Turns the camera off and starts over with the introduction. */
  cancel(): void {
    if (!this.run) return
    this.end()
    this.enter('idle')
    this.emit('cs-cancel', null)
  }

  /** Another capture, after one that was made, given up or failed. */
  retry(): Promise<void> {
    return this.start()
  }

  cameras(): Promise<CameraChoice[]> {
    return Camera.list()
  }

  /** Takes another camera, now and from now on. */
  async useCamera(id: string): Promise<void> {
    this.setAttribute('camera-id', id)
    if (!this.run || this.state === 'capturing') return
    this.end()
    await this.start()
  }

  private frames(
    challenge: CaptureChallenge,
    grabber: FrameGrabber,
    signal: AbortSignal,
  ): Promise<CapturedFrame[]> {
    const { steps } = challenge
    const plan = planCapture(challenge, {
      intervalMs: this.number('interval', DEFAULTS.intervalMs, 1),
      stepMs: this.number('step-time', DEFAULTS.stepMs, LEAST_STEP_MS),
    })
    // The service would refuse what comes later than this, whatever it shows.
    if (performance.now() + plan.durationMs >= this.expiresAtMs) throw new CaptureError('timeout')
    let shown = -1
    const onProgress = (step: number, share: number) => {
      this.view.share = share
      if (step === shown) return
      shown = step
      const name = steps[step]!
      this.view.sayStep(name, this.texts[name])
      this.emit('cs-step', { step, name, steps: steps.length })
    }
    return captureChallenge({ challenge, plan, grabber, onProgress, signal })
  }

  private readonly onVisibility = () => {
    const isWatching = this.state === 'live' || this.state === 'capturing'
    if (document.hidden && isWatching && this.run) this.fail(this.run, new CaptureError('hidden'))
  }

  /** The browser's question may never be answered, nor be seen; the capture goes on when it is. */
  private remind(): void {
    const { code, recoverable } = new CaptureError('prompt_ignored')
    this.view.sayError(this.texts[code])
    this.emit('cs-error', { code, recoverable })
  }

  private fail(run: AbortController, error: CaptureError): void {
    // What a capture says after its end is nobody's error.
    if (run !== this.run) return
    this.end()
    this.error = error
    this.enter('error')
    this.emit('cs-error', { code: error.code, recoverable: error.recoverable })
  }

  private end(): void {
    this.run?.abort()
    this.run = null
  }

  private enter(state: CaptureState): void {
    this.state = state
    this.render()
    this.view.focus(state)
  }

  private render(): void {
    const { view, state, mode, texts } = this
    view.write(texts, mode)
    view.show(state, {
      capture: mode === 'photo' || this.asked !== null,
      retry: this.error?.recoverable === true,
    })
    if (this.error) view.sayError(texts[this.error.code])
    // While it captures, steps are said.
    if (state === 'opening') view.say(texts.opening)
    else if (state === 'live') view.say(texts[`ready_${mode}`])
    else if (state !== 'capturing') view.say('')
  }

  private get texts(): CaptureMessages {
    const language = this.closest<HTMLElement>('[lang]')?.lang ?? ''
    return { ...messagesIn(language), ...this.ownMessages }
  }

  private number(attribute: string, fallback: number, least: number): number {
    const text = this.getAttribute(attribute)
    const value = Number(text)
    return text === null || text === '' || !(value >= least) ? fallback : value
  }

  /** A property that the page set before the class was there would hide the class's own. */
  private adopt(name: (typeof PROPERTIES)[number]): void {
    if (!Object.hasOwn(this, name)) return
    const value = this[name]
    delete (this as Partial<CountersignCapture>)[name]
    Object.assign(this, { [name]: value })
  }

  private emit<Name extends keyof CaptureEvents>(name: Name, detail: CaptureEvents[Name]['detail']): void {
    this.dispatchEvent(new CustomEvent(name, { detail, bubbles: true, composed: true }))
  }
}

if (globalThis.customElements && !customElements.get('countersign-capture'))
  customElements.define('countersign-capture', CountersignCapture)
