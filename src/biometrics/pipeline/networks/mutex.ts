/** Lets one caller at a time into a section of asynchronous code, in the order in which they ask. */
export class Mutex {
  private last: Promise<void> = Promise.resolve()

  /** Resolves when the caller holds the lock, with the function that releases it. */
  async lock(): Promise<() => void> {
    const before = this.last
    let release!: () => void
    this.last = new Promise((resolve) => {
      release = resolve
    })
    await before
    return release
  }
}
