/** What the person can do better, over the picture: shown at once, and read out by screen readers now and then. */
import { create } from './element.js'

/** A screen reader that is given a sentence every second finishes none. */
const READ_OUT_MS = 3000

export class HintView {
  readonly shown = create('p', { part: 'hint', 'aria-hidden': 'true', hidden: '' })
  /** For screen readers alone. */
  readonly heard = create('p', { class: 'heard', 'aria-live': 'polite', 'aria-atomic': 'true' })
  private wanted = ''
  private timer: ReturnType<typeof setTimeout> | undefined

  /** @param oval says the same by its colour and its line */
  constructor(private readonly oval: HTMLElement) {}

  say(hint: { text: string; isGood: boolean } | null): void {
    const { shown, oval } = this
    shown.hidden = hint === null || hint.text === ''
    shown.textContent = hint?.text ?? ''
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
