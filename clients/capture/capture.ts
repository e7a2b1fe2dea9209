/**
 * `<countersign-capture>`: takes photos of a face, or the frames of a challenge, and hands them to the page. It judges nothing
 * and sends nothing anywhere but small frames to the page's own backend, where it is asked for guidance; what it hands over
 * proves nothing until the service has checked it.
 */
import type { CaptureDisplay } from './action-view.js'
import { Camera, type CameraChoice } from './camera.js'
import { CaptureError, type CaptureErrorCode, toCaptureError } from './capture-error.js'
import type {
  CaptureDetail,
  CaptureDetector,
  CapturedFrame,
  CaptureEvents,
  CaptureOutcome,
} from './capture-events.js'
import { type CaptureChallenge, type CaptureStep, planCapture } from './capture-plan.js'
import { type CaptureMode, CaptureSettings } from './capture-settings.js'
import { messagesIn } from './capture-texts.js'
import { type CaptureState, CaptureView } from './capture-view.js'
import { captureChallenge } from './challenge-capture.js'
import { Coach } from './coach.js'
import { FrameGrabber } from './frame-grabber.js'
import type { CaptureGuidance, PhotoGuidance } from './guidance-codes.js'
import { photoFromFile } from './photo-file.js'
import type { CaptureMessages } from './texts-en.js'

export type {
  CaptureDetail,
  CaptureEvents,
  CaptureOutcome,
  ConsentDetail,
  ErrorDetail,
  GuidanceDetail,
  ReadyDetail,
  StepDetail,
} from './capture-events.js'
export type {
  CameraChoice,
  CaptureChallenge,
  CaptureDetector,
  CaptureDisplay,
  CapturedFrame,
  CaptureErrorCode,
  CaptureGuidance,
  CaptureMessages,
  CaptureStep,
  PhotoGuidance,
}

declare global {
  interface HTMLElementTagNameMap {
    'countersign-capture': CountersignCapture
  }
  interface HTMLElementEventMap extends CaptureEvents {}
}

const PROMPT_HINT_MS = 10_000
/** Properties that a page may set before the class is defined. */
const PROPERTIES = ['challenge', 'display', 'messages', 'detector'] as const

// On a server that renders pages there is no `HTMLElement`: there the module can be imported, but the class cannot be used.
const Base = globalThis.HTMLElement ?? (class {} as typeof HTMLElement)

export class CountersignCapture extends Base {
  static readonly observedAttributes = ['lang', 'mode', 'consent', 'file-fallback']

  private readonly settings = new CaptureSettings(this)
  private readonly view = new CaptureView(this.attachShadow({ mode: 'open' }), {
    start: () => void this.start(),
    capture: () => void this.capture(),
    cancel: () => this.cancel(),
    retry: () => void this.retry(),
    useFile: (file) => void this.useFile(file),
    useCamera: async (id) => {
      await this.useCamera(id)
      this.view.focusCamera()
    },
  })
  private readonly coach = new Coach({
    view: this.view,
    settings: this.settings,
    texts: () => this.texts,
    isReady: () => this.isReady,
    emit: (name, detail) => this.emit(name, detail),
  })
  private state: CaptureState = 'idle'
  private error: CaptureError | null = null
  private source: 'camera' | 'file' = 'camera'
  /** The promise of the backend's answer, or null before there is one. */
  private awaited: Promise<CaptureOutcome> | null = null
  private outcome: CaptureOutcome | null = null
  /** Aborts the current run, which lasts from `start` until the camera is off again; null between runs. */
  private run: AbortController | null = null
  /** Goes on after the click that the browser wants before it shows the picture. */
  private goOn: (() => void) | null = null
  /** Id of the text to which the person has agreed, or null. */
  private agreed: string | null = null
  private asked: CaptureChallenge | null = null
  private expiresAtMs = Number.POSITIVE_INFINITY
  private ownMessages: Partial<CaptureMessages> = {}
  private ownDetector: CaptureDetector | null = null

  constructor() {
    super()
    this.addEventListener('keydown', (event) => {
      if (event.key !== 'Escape' || !this.run) return
      // A dialog around the component stays open.
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

  /** The text of the typed action that the person confirms, shown above everything else; null for none. */
  set display(display: CaptureDisplay | null) {
    this.view.action.show(display)
  }

  /** Texts of the page, which replace those of the component with the same names. */
  get messages(): Partial<CaptureMessages> {
    return this.ownMessages
  }

  set messages(messages: Partial<CaptureMessages>) {
    this.ownMessages = messages
    this.render()
  }

  /** All texts in the language of the component, for a page that shows the outcome of a capture in the same language. */
  get texts(): CaptureMessages {
    return { ...messagesIn(this.settings.language), ...this.ownMessages }
  }

  /** The page's own function that gives guidance, used instead of `guide-url`. */
  get detector(): CaptureDetector | null {
    return this.ownDetector
  }

  set detector(detector: CaptureDetector | null) {
    this.ownDetector = detector
  }

  get mode(): CaptureMode {
    return this.settings.mode
  }

  /** React sets the properties of an element where it has them, and attributes otherwise. */
  set mode(mode: CaptureMode) {
    this.setAttribute('mode', mode)
  }

  connectedCallback(): void {
    for (const name of PROPERTIES) this.adopt(name)
    this.render()
    document.addEventListener('visibilitychange', this.onVisibility)
  }

  disconnectedCallback(): void {
    document.removeEventListener('visibilitychange', this.onVisibility)
    this.end()
    this.awaited = null
    this.state = 'idle'
  }

  attributeChangedCallback(name: string, before: string | null, after: string | null): void {
    if (name === 'consent' && before !== after) this.view.disagree()
    this.render()
  }

  /**
   * Asks for the camera and shows its picture. Resolves when the picture is shown, or the person gave up or refused: the events say which.
   * Nothing happens before the person has given a required consent.
   */
  async start(): Promise<void> {
    if (this.run) return this.goOn?.()
    if (!this.consents()) return this.enter('idle')
    const run = new AbortController()
    this.run = run
    this.error = null
    this.outcome = null
    this.awaited = null
    this.enter('opening')
    const hint = setTimeout(() => this.remind(), PROMPT_HINT_MS)
    const timer = setTimeout(() => this.fail(run, new CaptureError('timeout')), this.settings.timeoutMs)
    run.signal.addEventListener('abort', () => {
      clearTimeout(hint)
      clearTimeout(timer)
    })
    try {
      const { video } = this.view
      const camera = await Camera.open(video, this.settings, {
        signal: run.signal,
        onLost: (code) => this.fail(run, new CaptureError(code)),
        askForClick: () => this.askForClick(run),
      })
      clearTimeout(hint)
      const cameras = await Camera.list()
      if (run.signal.aborted) return
      // A camera that is gone is not asked for again.
      if (camera.id && this.settings.cameraId !== camera.id) this.removeAttribute('camera-id')
      this.view.isMirrored = camera.isMirrored
      this.view.setCameras(cameras, camera.id)
      this.enter('live')
      this.coach.begin(this.detector, run.signal)
      this.emit('cs-ready', { width: video.videoWidth, height: video.videoHeight })
    } catch (error) {
      this.fail(run, toCaptureError(error))
    }
  }

  /**
   * Takes the photo, or the frames of the challenge. Does nothing before the picture is shown.
   * @throws TypeError in challenge mode without a challenge
   */
  async capture(): Promise<void> {
    const { run } = this
    if (!run || this.state !== 'live') return
    if (this.mode === 'challenge' && !this.asked) throw new TypeError('set `challenge` before `capture`')
    const grabber = new FrameGrabber(this.view.video, this.settings)
    this.enter('capturing')
    try {
      if (this.mode === 'photo') await grabber.nextFrame(run.signal)
      if (run.signal.aborted) return
      const detail: CaptureDetail =
        this.mode === 'photo'
          ? { mode: 'photo', images: [await grabber.take()], source: 'camera' }
          : { mode: 'challenge', frames: await this.frames(this.asked!, grabber, run.signal) }
      if (run.signal.aborted) return
      this.end()
      this.finish(detail)
    } catch (error) {
      this.fail(run, toCaptureError(error))
    }
  }

  /**
   * Shows that the capture is being checked, and then the outcome. Call it in the handler of `cs-capture` with the promise of your
   * backend's answer. A rejected promise is shown as a missing answer.
   */
  async wait(answer: Promise<CaptureOutcome>): Promise<void> {
    if (this.state !== 'done') return
    this.awaited = answer
    this.enter('waiting')
    const outcome = await answer.catch(() => ({ ok: false, message: this.texts.unanswered }))
    // Another capture or answer has begun meanwhile.
    if (this.awaited !== answer) return
    this.settle(outcome)
  }

  /**
   * Turns the camera off and shows why no capture is possible, for example that the person is locked out.
   * @param retry whether another try is offered; default false
   */
  refuse(message: string, { retry = false }: { retry?: boolean } = {}): void {
    this.end()
    this.settle({ ok: false, message, retry })
  }

  /** Turns the camera off and starts over with the introduction. */
  cancel(): void {
    if (!this.run) return
    this.end()
    this.enter('idle')
    this.emit('cs-cancel', null)
  }

  /** Begins another capture after one that was made, given up or failed. */
  retry(): Promise<void> {
    return this.start()
  }

  cameras(): Promise<CameraChoice[]> {
    return Camera.list()
  }

  /** Switches to another camera, which later captures use as well. */
  async useCamera(id: string): Promise<void> {
    this.setAttribute('camera-id', id)
    if (!this.run || this.state === 'capturing') return
    this.end()
    await this.start()
  }

  private get isReady(): boolean {
    return this.mode === 'photo' || this.asked !== null
  }

  private async useFile(file: File): Promise<void> {
    if (this.run || !this.consents()) return
    try {
      const photo = await photoFromFile(file, this.settings)
      this.finish({ mode: 'photo', images: [photo], source: 'file' })
    } catch (error) {
      this.giveUp(toCaptureError(error))
    }
  }

  private frames(
    challenge: CaptureChallenge,
    grabber: FrameGrabber,
    signal: AbortSignal,
  ): Promise<CapturedFrame[]> {
    const { steps } = challenge
    const plan = planCapture(challenge, this.settings)
    // The service would refuse any capture that arrives after this time.
    if (performance.now() + plan.durationMs >= this.expiresAtMs) throw new CaptureError('timeout')
    let shown = -1
    const onProgress = (step: number, share: number) => {
      this.view.share = share
      if (step === shown) return
      shown = step
      this.coach.showStep(step, steps)
    }
    return captureChallenge({ challenge, plan, grabber, onProgress, signal })
  }

  /** Whether no consent is required or the person has given it. Sends `cs-consent` when the consent is new. */
  private consents(): boolean {
    const { consent } = this.settings
    if (!this.view.isAgreed) this.agreed = null
    else if (consent !== null && consent !== this.agreed) {
      this.agreed = consent
      this.emit('cs-consent', { id: consent, agreed_at: new Date().toISOString() })
    }
    return this.view.isAgreed
  }

  private readonly onVisibility = () => {
    const isWatching = this.state === 'live' || this.state === 'capturing'
    if (document.hidden && isWatching && this.run) this.fail(this.run, new CaptureError('hidden'))
  }

  /** Reminds the person of the browser's question for the camera, which is easily overlooked. The capture goes on after the answer. */
  private remind(): void {
    if (this.state !== 'opening') return
    const { code, recoverable } = new CaptureError('prompt_ignored')
    // Screen readers read this text out: the focus stays on the button that gives up.
    this.view.say(this.texts[code])
    this.emit('cs-error', { code, recoverable })
  }

  /** Shows the start button again where the browser shows the picture only after a click, and waits for it. */
  private async askForClick({ signal }: AbortController): Promise<void> {
    this.enter('idle')
    await new Promise<void>((resolve) => {
      this.goOn = resolve
      signal.addEventListener('abort', () => resolve())
    })
  }

  private fail(run: AbortController, error: CaptureError): void {
    // Errors of a run that has ended are ignored.
    if (run !== this.run) return
    this.end()
    this.giveUp(error)
  }

  private settle(outcome: CaptureOutcome): void {
    this.error = null
    this.awaited = null
    this.outcome = outcome
    this.enter(outcome.ok ? 'done' : 'refused')
  }

  private giveUp(error: CaptureError): void {
    this.error = error
    this.enter('error')
    this.emit('cs-error', { code: error.code, recoverable: error.recoverable })
  }

  private finish(detail: CaptureDetail): void {
    this.error = null
    this.outcome = null
    this.awaited = null
    this.source = detail.mode === 'photo' ? detail.source : 'camera'
    this.enter('done')
    this.emit('cs-capture', detail)
  }

  private end(): void {
    this.run?.abort()
    this.run = null
    this.coach.end()
  }

  private enter(state: CaptureState): void {
    this.state = state
    this.render()
    this.view.focus(state)
  }

  private render(): void {
    const { view, state, mode, texts, settings } = this
    view.write(texts, mode)
    view.show(state, {
      capture: this.isReady,
      retry: this.error ? this.error.recoverable : this.outcome?.retry !== false,
      file: settings.takesFiles,
      consent: settings.consent !== null,
    })
    const { outcome } = this
    if (outcome?.ok) view.sayDone(outcome.message ?? texts.accepted)
    else view.sayDone(this.source === 'file' ? texts.done_file : texts.done)
    if (outcome && !outcome.ok) view.sayError(outcome.message ?? texts.try_again)
    if (this.error) view.sayError(texts[this.error.code])
    // While frames are taken, the steps are shown instead.
    if (state === 'opening') view.say(texts.opening)
    else if (state === 'live') view.say(texts[`ready_${mode}`])
    else if (state !== 'capturing') view.say('')
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
