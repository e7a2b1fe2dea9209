/** Admits no more verifies of one user at a time than it has attempts left, so that parallel guesses cannot step past a lockout. */

interface Passage {
  inside: number
  waiting: Array<() => void>
}

export class AttemptGate {
  private readonly passages = new Map<string, Passage>()

  /**
   * Waits until fewer verifies of `key` are under way than `attemptsLeft()`, asked anew after each that ends; one is always
   * admitted. Resolves with the function that must be called when the verify has been committed or has failed.
   */
  async enter(key: string, attemptsLeft: () => Promise<number>): Promise<() => void> {
    const passage = this.passages.get(key) ?? { inside: 0, waiting: [] }
    this.passages.set(key, passage)
    // Counted before asking: whoever comes during the question sees this one inside.
    passage.inside++
    while (passage.inside > 1) {
      const left = await attemptsLeft()
      if (passage.inside === 1 || passage.inside <= left) break
      passage.inside--
      await new Promise<void>((resolve) => passage.waiting.push(resolve))
    }
    return () => {
      passage.inside--
      // Counted inside again before they run, so that the passage is never dropped under them.
      for (const admit of passage.waiting.splice(0)) {
        passage.inside++
        admit()
      }
      if (passage.inside === 0) this.passages.delete(key)
    }
  }
}
