/** One at a time, in order of arrival. */
export class Turns {
  private last: Promise<void> = Promise.resolve()

  /** Resolves when it is the caller's turn, with the function that ends it. */
  async enter(): Promise<() => void> {
    const before = this.last
    let pass!: () => void
    this.last = new Promise((resolve) => {
      pass = resolve
    })
    await before
    return pass
  }
}
