/**
 * The shadow tree of the component, and what it shows in each state. It is built node by node, so that Trusted Types have nothing to
 * refuse.
 */
import { ActionView } from './action-view.js'
import { type ArrowOrder, ArrowView } from './arrow-view.js'
import type { CameraChoice } from './camera.js'
import type { CaptureStep } from './capture-plan.js'
import { captureStyle } from './capture-style.js'
import { create } from './element.js'
import { type Hint, HintView } from './hint-view.js'
import type { CaptureMessages } from './texts-en.js'

export type CaptureState =
  | 'idle'
  | 'opening'
  | 'live'
  | 'capturing'
  /** The camera is off, and the component waits for the answer of the backend. */
  | 'waiting'
  | 'done'
  /** The backend refused the capture. */
  | 'refused'
  | 'error'

export interface CaptureActions {
  start(): void
  capture(): void
  cancel(): void
  retry(): void
  useCamera(id: string): void
  useFile(file: File): void
}

/** The choices that the person has in addition to those of the state. */
export interface CaptureChoices {
  capture: boolean
  retry: boolean
  file: boolean
  /** Whether the person must agree to something first. */
  consent: boolean
}

const BUTTON = { type: 'button', part: 'button' }
const PRIMARY = { ...BUTTON, class: 'primary' }

export class CaptureView {
  /** Whether the camera's picture is shown. */
  private isActive = false
  readonly video = create('video', { part: 'video', playsinline: '', 'aria-hidden': 'true' })
  private readonly oval = create('div', { part: 'oval', 'aria-hidden': 'true' })
  readonly action = new ActionView()
  private readonly hint = new HintView(this.oval)
  private readonly arrow = new ArrowView()
  private readonly stage = create(
    'div',
    { part: 'stage' },
    this.video,
    this.oval,
    this.arrow.shown,
    this.hint.shown,
  )
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
  private readonly promptText = create('span', { 'aria-live': 'polite', 'aria-atomic': 'true' })
  private readonly prompt = create('p', { part: 'prompt' }, this.promptText)
  private readonly progress = create('progress', { part: 'progress', max: '1' })
  private readonly error = create('p', { part: 'error', tabindex: '-1' })
  private readonly waitingText = create('p', { part: 'waiting', role: 'status', tabindex: '-1' })
  private readonly doneText = create('p', { part: 'done' })
  private readonly done = create('div', { tabindex: '-1' }, create('slot', { name: 'done' }, this.doneText))
  private readonly cameraText = create('span', {})
  private readonly camera = create('select', { part: 'camera' })
  private readonly cameraLabel = create('label', {}, this.cameraText, ' ', this.camera)
  private readonly startButton = create('button', PRIMARY)
  private readonly captureButton = create('button', PRIMARY)
  private readonly retryButton = create('button', PRIMARY)
  private readonly fileButton = create('button', BUTTON)
  private readonly cancelButton = create('button', BUTTON)
  /** The file chooser is never shown: the button opens it. */
  private readonly file = create('input', {
    type: 'file',
    accept: 'image/jpeg,image/png,image/webp',
    hidden: '',
  })

  constructor(root: ShadowRoot, actions: CaptureActions) {
    root.adoptedStyleSheets = [captureStyle()]
    const { startButton, captureButton, retryButton, fileButton, cancelButton, cameraLabel } = this
    const buttons = [startButton, captureButton, retryButton, fileButton, cancelButton, cameraLabel]
    root.append(
      this.action.shown,
      this.intro,
      this.stage,
      this.prompt,
      this.hint.heard,
      this.progress,
      this.error,
      this.waitingText,
      this.done,
      create('div', { class: 'actions' }, ...buttons, this.file),
    )
    // The attribute `muted` has an effect only in parsed pages.
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
      // The person may choose the same file again.
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

  /** Withdraws the agreement: the page asks for another consent now. */
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
    this.waitingText.textContent = messages.checking
    this.progress.setAttribute('aria-label', messages.progress)
  }

  show(state: CaptureState, can: CaptureChoices): void {
    const isActive = state === 'live' || state === 'capturing'
    this.intro.hidden = state !== 'idle'
    this.agreement.hidden = !can.consent
    this.stage.hidden = !isActive
    this.progress.hidden = state !== 'capturing'
    this.progress.value = 0
    this.error.hidden = state !== 'error' && state !== 'refused'
    this.waitingText.hidden = state !== 'waiting'
    this.done.hidden = state !== 'done'
    this.startButton.hidden = state !== 'idle'
    this.captureButton.hidden = state !== 'live'
    this.captureButton.disabled = !can.capture
    this.retryButton.hidden = (state !== 'error' && state !== 'refused') || !can.retry
    this.fileButton.hidden = !can.file || (state !== 'idle' && state !== 'error')
    this.cancelButton.hidden = !isActive && state !== 'opening'
    this.cameraLabel.hidden = state !== 'live' || this.camera.options.length < 2
    // Over the picture there is one order at a time, so the prompt below it is for screen readers then.
    this.prompt.classList.toggle('unseen', isActive)
    this.isActive = isActive
    if (!isActive) this.clear()
    this.holdBack()
  }

  /** Moves the focus to what comes next, or to the outcome. */
  focus(state: CaptureState): void {
    const target = {
      idle: this.isAgreed ? this.startButton : this.agreed,
      opening: this.cancelButton,
      live: this.captureButton.disabled ? this.cancelButton : this.captureButton,
      capturing: this.cancelButton,
      waiting: this.waitingText,
      done: this.done,
      refused: this.error,
      error: this.error,
    }[state]
    target.focus()
  }

  focusCamera(): void {
    this.camera.focus()
  }

  /** Says a text below the place of the picture, or over the picture while there is one. */
  say(text: string): void {
    this.promptText.textContent = text
    // The element stays in the tree: screen readers read a live region only if it was there before its text.
    this.prompt.classList.toggle('silent', text === '')
    this.hint.setOrder(this.isActive ? text : '')
  }

  sayStep(step: CaptureStep, text: string): void {
    this.say(text)
    this.sayHint(null, { step, isBack: false })
  }

  /**
   * Shows what the person can do better, or that there is nothing, instead of the order; null shows the order again. The button
   * works all the same.
   * @param arrow null where the words ask for no movement
   */
  sayHint(hint: Hint | null, arrow: ArrowOrder | null): void {
    this.hint.say(hint)
    this.arrow.point(arrow, this.video.classList.contains('mirrored'))
    this.captureButton.classList.toggle('early', hint?.isGood === false)
  }

  sayError(text: string): void {
    this.error.textContent = text
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

  private clear(): void {
    this.hint.setOrder('')
    this.sayHint(null, null)
  }

  /** Disables camera and file until the person has agreed. */
  private holdBack(): void {
    this.startButton.disabled = !this.isAgreed
    this.fileButton.disabled = !this.isAgreed
  }
}
