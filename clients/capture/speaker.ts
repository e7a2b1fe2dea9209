/** Speaks the texts that are shown, for a person who looks elsewhere while the head is turned. */

export class Speaker {
  private last = ''

  /** Speaks a text at once, and cuts short the current one. */
  say(text: string, language: string): void {
    this.stop()
    this.speak(text, language)
  }

  /** Speaks a text unless another one is being spoken: the next hint comes soon. */
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

/** The browser's voice, or undefined when it has none or the system asks for quiet pages. */
function voice(): SpeechSynthesis | undefined {
  const isQuiet = matchMedia('(prefers-reduced-motion: reduce)').matches
  return isQuiet ? undefined : globalThis.speechSynthesis
}
