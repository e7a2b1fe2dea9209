/** Work that is begun anew at each beat, and never while it still goes on: a database or a folder that hangs gets one at a time. */
export class PeriodicTask {
  private timer: NodeJS.Timeout | null = null
  private underWay: Promise<void> | null = null

  /** @param onError told of what the work throws, after which the next beat comes as ever */
  constructor(
    private readonly everyMs: number,
    private readonly work: () => Promise<void>,
    private readonly onError: (error: unknown) => void,
  ) {}

  /** The first beat comes when the first interval is over; it keeps no process alive. */
  start(): void {
    this.timer = setInterval(() => void this.now(), this.everyMs).unref()
  }

  /** Joins what is under way, else begins. Never rejects. */
  now(): Promise<void> {
    this.underWay ??= this.work()
      .catch(this.onError)
      .finally(() => {
        this.underWay = null
      })
    return this.underWay
  }

  /** Resolves when nothing of it is under way any more. */
  async stop(): Promise<void> {
    if (this.timer) clearInterval(this.timer)
    await this.underWay
  }
}
