/** Says what is shown, for a person who looks elsewhere while the head is turned. */

export class Speaker {
  private last = ''

  /** Whatever is being said is cut short. */
  say(text: string, language: string): void {
    this.stop()
    this.speak(text, language)
  }

  /** While something is being said, this is not: there will be another hint. */
  add(text: string, language: string): void {
    if (text !== this.last && !voice()?.speaking) this.speak(text, language)
  }

  stop(): void {
    if (this.last !== '') voice()?.cancel()
    this.last = ''
  }

  private speak(text: string, language: string): void {
    const synthesis = voice()
    if (!synthesis || text === '') return
    this.last = text
    const utterance = new SpeechSynthesisUtterance(text)
    utterance.lang = language
    synthesis.speak(utterance)
  }
}

/** Undefined where the browser has none, or the person's system asks for quiet pages. */
function voice(): SpeechSynthesis | undefined {
  const isQuiet = matchMedia('(prefers-reduced-motion: reduce)').matches
  return isQuiet ? undefined : globalThis.speechSynthesis
}
