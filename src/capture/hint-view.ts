/** The one order that the person reads over the picture: the step that is asked for, or the most urgent advice in its place. */
import { create } from './element.js'

/** A screen reader that is given a sentence every second finishes none. */
const READ_OUT_MS = 3000

export interface Hint {
  text: string
  isGood: boolean
}

export class HintView {
  readonly shown = create('p', { part: 'hint', 'aria-hidden': 'true', hidden: '' })
  /** For screen readers only. The order itself is read out where the page says it. */
  readonly heard = create('p', { class: 'heard', 'aria-live': 'polite', 'aria-atomic': 'true' })
  private order = ''
  private wanted = ''
  private timer: ReturnType<typeof setTimeout> | undefined

  /** @param oval says the same by its color and its line */
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
