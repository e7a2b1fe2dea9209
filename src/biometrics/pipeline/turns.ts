/** One at a time, in order of arrival. */
export class Turns {
  private last: Promise<void> = Promise.resolve()
  private count = 0

  /** Somebody has the turn or waits for it. */
  get isTaken(): boolean {
    return this.count > 0
  }

  /** Resolves when it is the caller's turn, with the function that ends it. */
  async enter(): Promise<() => void> {
    this.count++
    const before = this.last
    let pass!: () => void
    this.last = new Promise((resolve) => {
      pass = resolve
    })
    await before
    return () => {
      this.count--
      pass()
    }
  }
}
