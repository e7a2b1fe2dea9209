/** The component's shadow tree: what is shown in which state. Made node by node, so that Trusted Types have nothing to refuse. */
import type { CameraChoice } from './camera.js'
import type { CaptureMessages } from './capture-messages.js'
import type { CaptureStep } from './capture-plan.js'
import { captureStyle } from './capture-style.js'
import { create } from './element.js'
import { HintView } from './hint-view.js'

export type CaptureState = 'idle' | 'opening' | 'live' | 'capturing' | 'done' | 'error'

export interface CaptureActions {
  start(): void
  capture(): void
  cancel(): void
  retry(): void
  useCamera(id: string): void
  useFile(file: File): void
}

/** What is possible beside what the state says. */
export interface CaptureChoices {
  capture: boolean
  retry: boolean
  file: boolean
  /** Something must be agreed to. */
  consent: boolean
}

/** As the person sees it: a preview of oneself is a mirror, where the own left is on the left. */
const ARROWS: Record<CaptureStep, readonly [seen: string, mirrored: string]> = {
  frontal: ['', ''],
  turn_left: ['→', '←'],
  turn_right: ['←', '→'],
  nod_up: ['↑', '↑'],
  nod_down: ['↓', '↓'],
}

const BUTTON = { type: 'button', part: 'button' }
const PRIMARY = { ...BUTTON, class: 'primary' }

export class CaptureView {
  readonly video = create('video', { part: 'video', playsinline: '', 'aria-hidden': 'true' })
  private readonly oval = create('div', { part: 'oval', 'aria-hidden': 'true' })
  private readonly hint = new HintView(this.oval)
  private readonly stage = create('div', { part: 'stage' }, this.video, this.oval, this.hint.shown)
  private readonly introText = create('p', {})
  private readonly agreed = create('input', { type: 'checkbox' })
  private readonly agreedText = create('span', {})
  private readonly agreement = create('label', { part: 'consent' }, this.agreed, ' ', this.agreedText)
  private readonly intro = create(
    'div',
    {},
    create('slot', { name: 'intro' }, this.introText),
    create('slot', { name: 'consent' }),
    this.agreement,
  )
  private readonly arrow = create('span', { class: 'arrow', 'aria-hidden': 'true' })
  private readonly promptText = create('span', { 'aria-live': 'polite', 'aria-atomic': 'true' })
  private readonly prompt = create('p', { part: 'prompt' }, this.arrow, this.promptText)
  private readonly progress = create('progress', { part: 'progress', max: '1' })
  private readonly error = create('p', { part: 'error', tabindex: '-1' })
  private readonly doneText = create('p', {})
  private readonly done = create('div', { tabindex: '-1' }, create('slot', { name: 'done' }, this.doneText))
  private readonly cameraText = create('span', {})
  private readonly camera = create('select', { part: 'camera' })
  private readonly cameraLabel = create('label', {}, this.cameraText, ' ', this.camera)
  private readonly startButton = create('button', PRIMARY)
  private readonly captureButton = create('button', PRIMARY)
  private readonly retryButton = create('button', PRIMARY)
  private readonly fileButton = create('button', BUTTON)
  private readonly cancelButton = create('button', BUTTON)
  /** Never shown: the button opens it. */
  private readonly file = create('input', { type: 'file', accept: 'image/*', hidden: '' })

  constructor(root: ShadowRoot, actions: CaptureActions) {
    root.adoptedStyleSheets = [captureStyle()]
    const { startButton, captureButton, retryButton, fileButton, cancelButton, cameraLabel } = this
    const buttons = [startButton, captureButton, retryButton, fileButton, cancelButton, cameraLabel]
    root.append(
      this.intro,
      this.stage,
      this.prompt,
      this.hint.heard,
      this.progress,
      this.error,
      this.done,
      create('div', { class: 'actions' }, ...buttons, this.file),
    )
    // The attribute counts in parsed pages alone.
    this.video.muted = true
    startButton.addEventListener('click', () => actions.start())
    captureButton.addEventListener('click', () => actions.capture())
    retryButton.addEventListener('click', () => actions.retry())
    cancelButton.addEventListener('click', () => actions.cancel())
    fileButton.addEventListener('click', () => this.file.click())
    this.camera.addEventListener('change', () => actions.useCamera(this.camera.value))
    this.agreed.addEventListener('change', () => this.holdBack())
    this.file.addEventListener('change', () => {
      const [chosen] = this.file.files ?? []
      // The same one may be chosen again.
      this.file.value = ''
      if (chosen) actions.useFile(chosen)
    })
  }

  set isMirrored(isMirrored: boolean) {
    this.video.classList.toggle('mirrored', isMirrored)
  }

  get isAgreed(): boolean {
    return this.agreement.hidden === true || this.agreed.checked
  }

  /** What was agreed to is no longer what is asked for. */
  disagree(): void {
    this.agreed.checked = false
    this.holdBack()
  }

  write(messages: CaptureMessages, mode: 'photo' | 'challenge'): void {
    this.introText.textContent = messages[`intro_${mode}`]
    this.agreedText.textContent = messages.agree
    this.startButton.textContent = messages.start
    this.captureButton.textContent = mode === 'photo' ? messages.take_photo : messages.begin
    this.retryButton.textContent = messages.retry
    this.fileButton.textContent = messages.choose_file
    this.cancelButton.textContent = messages.cancel
    this.cameraText.textContent = messages.camera
    this.progress.setAttribute('aria-label', messages.progress)
  }

  show(state: CaptureState, can: CaptureChoices): void {
    const isActive = state === 'live' || state === 'capturing'
    this.intro.hidden = state !== 'idle'
    this.agreement.hidden = !can.consent
    this.stage.hidden = !isActive
    this.progress.hidden = state !== 'capturing'
    this.progress.value = 0
    this.error.hidden = state !== 'error'
    this.done.hidden = state !== 'done'
    this.startButton.hidden = state !== 'idle'
    this.captureButton.hidden = state !== 'live'
    this.captureButton.disabled = !can.capture
    this.retryButton.hidden = state !== 'error' || !can.retry
    this.fileButton.hidden = !can.file || (state !== 'idle' && state !== 'error')
    this.cancelButton.hidden = !isActive && state !== 'opening'
    this.cameraLabel.hidden = state !== 'live' || this.camera.options.length < 2
    if (!isActive) this.sayHint(null)
    this.holdBack()
  }

  /** Moves the focus to what comes next, or to the outcome. */
  focus(state: CaptureState): void {
    const target = {
      idle: this.isAgreed ? this.startButton : this.agreed,
      opening: this.cancelButton,
      live: this.captureButton.disabled ? this.cancelButton : this.captureButton,
      capturing: this.cancelButton,
      done: this.done,
      error: this.error,
    }[state]
    target.focus()
  }

  focusCamera(): void {
    this.camera.focus()
  }

  say(text: string): void {
    this.arrow.textContent = ''
    this.promptText.textContent = text
    // It stays in the tree: what a live region says is heard only where it was there before.
    this.prompt.classList.toggle('silent', text === '')
  }

  sayStep(step: CaptureStep, text: string): void {
    this.say(text)
    this.arrow.textContent = ARROWS[step][this.video.classList.contains('mirrored') ? 1 : 0]
    this.sayHint(null)
  }

  /** What the person can do better, or that there is nothing; null for no hint at all. The button works all the same. */
  sayHint(hint: { text: string; isGood: boolean } | null): void {
    this.hint.say(hint)
    this.captureButton.classList.toggle('early', hint?.isGood === false)
  }

  sayError(text: string): void {
    this.error.textContent = text
    this.error.hidden = false
  }

  sayDone(text: string): void {
    this.doneText.textContent = text
  }

  set share(share: number) {
    this.progress.value = share
  }

  setCameras(cameras: CameraChoice[], chosen: string | undefined): void {
    const options = cameras.map(({ id, label }, index) => new Option(label || String(index + 1), id))
    this.camera.replaceChildren(...options)
    if (chosen) this.camera.value = chosen
    this.cameraLabel.hidden = options.length < 2
  }

  /** Neither camera nor file before what must be agreed to. */
  private holdBack(): void {
    this.startButton.disabled = !this.isAgreed
    this.fileButton.disabled = !this.isAgreed
  }
}
