/** The component's shadow tree: what is shown in which state. Made node by node, so that Trusted Types have nothing to refuse. */
import type { CameraChoice } from './camera.js'
import type { CaptureStep } from './capture-plan.js'
import { captureStyle } from './capture-style.js'
import type { CaptureMessages } from './capture-texts.js'

export type CaptureState = 'idle' | 'opening' | 'live' | 'capturing' | 'done' | 'error'

export interface CaptureActions {
  start(): void
  capture(): void
  cancel(): void
  retry(): void
  useCamera(id: string): void
}

/** As the person sees it: a preview of oneself is a mirror, where the own left is on the left. */
const ARROWS: Record<CaptureStep, readonly [seen: string, mirrored: string]> = {
  frontal: ['', ''],
  turn_left: ['→', '←'],
  turn_right: ['←', '→'],
  nod_up: ['↑', '↑'],
  nod_down: ['↓', '↓'],
}

export class CaptureView {
  readonly video = create('video', { part: 'video', playsinline: '', 'aria-hidden': 'true' })
  private readonly oval = create('div', { part: 'oval', 'aria-hidden': 'true' })
  private readonly stage = create('div', { part: 'stage' }, this.video, this.oval)
  private readonly introText = create('p', {})
  private readonly intro = create(
    'div',
    {},
    create('slot', { name: 'intro' }, this.introText),
    create('slot', { name: 'consent' }),
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
  private readonly startButton = create('button', { type: 'button', part: 'button', class: 'primary' })
  private readonly captureButton = create('button', { type: 'button', part: 'button', class: 'primary' })
  private readonly retryButton = create('button', { type: 'button', part: 'button', class: 'primary' })
  private readonly cancelButton = create('button', { type: 'button', part: 'button' })

  constructor(root: ShadowRoot, actions: CaptureActions) {
    root.adoptedStyleSheets = [captureStyle()]
    const { startButton, captureButton, retryButton, cancelButton, cameraLabel } = this
    root.append(
      this.intro,
      this.stage,
      this.prompt,
      this.progress,
      this.error,
      this.done,
      create('div', { class: 'actions' }, startButton, captureButton, retryButton, cancelButton, cameraLabel),
    )
    // The attribute counts in parsed pages alone.
    this.video.muted = true
    startButton.addEventListener('click', () => actions.start())
    captureButton.addEventListener('click', () => actions.capture())
    retryButton.addEventListener('click', () => actions.retry())
    cancelButton.addEventListener('click', () => actions.cancel())
    this.camera.addEventListener('change', () => actions.useCamera(this.camera.value))
  }

  set isMirrored(isMirrored: boolean) {
    this.video.classList.toggle('mirrored', isMirrored)
  }

  write(messages: CaptureMessages, mode: 'photo' | 'challenge'): void {
    this.introText.textContent = messages[`intro_${mode}`]
    this.startButton.textContent = messages.start
    this.captureButton.textContent = mode === 'photo' ? messages.take_photo : messages.begin
    this.retryButton.textContent = messages.retry
    this.cancelButton.textContent = messages.cancel
    this.doneText.textContent = messages.done
    this.cameraText.textContent = messages.camera
    this.progress.setAttribute('aria-label', messages.progress)
  }

  show(state: CaptureState, can: { capture: boolean; retry: boolean }): void {
    const isActive = state === 'live' || state === 'capturing'
    this.intro.hidden = state !== 'idle'
    this.stage.hidden = !isActive
    this.progress.hidden = state !== 'capturing'
    this.progress.value = 0
    this.error.hidden = state !== 'error'
    this.done.hidden = state !== 'done'
    this.startButton.hidden = state !== 'idle'
    this.captureButton.hidden = state !== 'live'
    this.captureButton.disabled = !can.capture
    this.retryButton.hidden = state !== 'error' || !can.retry
    this.cancelButton.hidden = !isActive && state !== 'opening'
    this.cameraLabel.hidden = state !== 'live' || this.camera.options.length < 2
  }

  /** Moves the focus to what comes next, or to the outcome. */
  focus(state: CaptureState): void {
    const target = {
      idle: this.startButton,
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
  }

  sayError(text: string): void {
    this.error.textContent = text
    this.error.hidden = false
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
}

function create<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Record<string, string>,
  ...children: Array<Node | string>
): HTMLElementTagNameMap[Name] {
  const element = document.createElement(name)
  for (const [attribute, value] of Object.entries(attributes)) element.setAttribute(attribute, value)
  element.append(...children)
  return element
}
