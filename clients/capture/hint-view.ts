/** Shows one order over the picture: the step of the challenge, or the most urgent advice instead. */
import { create } from './element.js'

/** Milliseconds between two sentences for a screen reader, which would finish none if each came a second after the other. */
const READ_OUT_MS = 3000

export interface Hint {
  text: string
  isGood: boolean
}

export class HintView {
  readonly shown = create('p', { part: 'hint', 'aria-hidden': 'true', hidden: '' })
  /** Advice for screen readers only. They read the order itself from the prompt. */
  readonly heard = create('p', { class: 'heard', 'aria-live': 'polite', 'aria-atomic': 'true' })
  private order = ''
  private wanted = ''
  private timer: ReturnType<typeof setTimeout> | undefined

  /** @param oval shows by its color and line whether there is advice */
  constructor(private readonly oval: HTMLElement) {}

  /** Shows another order, without the advice on the one before. @param order empty for none */
  setOrder(order: string): void {
    if (order === this.order) return
    this.order = order
    this.say(null)
  }

  /** Shows advice instead of the order; null shows the order again. */
  say(hint: Hint | null): void {
    const { shown, oval } = this
    shown.textContent = hint?.text || this.order
    shown.hidden = shown.textContent === ''
    for (const element of [shown, oval]) {
      element.classList.toggle('good', hint?.isGood === true)
      element.classList.toggle('amiss', hint?.isGood === false)
    }
    this.wanted = hint?.text ?? ''
    if (hint === null) this.hush()
    else if (this.timer === undefined) this.readOut()
  }

  private readOut(): void {
    this.heard.textContent = this.wanted
    this.timer = setTimeout(() => {
      this.timer = undefined
      if (this.heard.textContent !== this.wanted) this.readOut()
    }, READ_OUT_MS)
  }

  private hush(): void {
    clearTimeout(this.timer)
    this.timer = undefined
    this.heard.textContent = ''
  }
}
