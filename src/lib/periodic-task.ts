/** Work that runs at a fixed interval and never overlaps itself, so that a database or folder that hangs gets one run at a time. */
export class PeriodicTask {
  private timer: NodeJS.Timeout | null = null
  private underWay: Promise<void> | null = null

  /** @param onError called with what the work throws; the next run comes at its interval all the same */
  constructor(
    private readonly everyMs: number,
    private readonly work: () => Promise<void>,
    private readonly onError: (error: unknown) => void,
  ) {}

  /** Runs the work at each interval, first when one interval has passed. The timer keeps no process alive. */
  start(): void {
    this.timer = setInterval(() => void this.now(), this.everyMs).unref()
  }

  /** Runs the work now, or joins the run that is under way. Never rejects. */
  now(): Promise<void> {
    this.underWay ??= this.work()
      .catch(this.onError)
      .finally(() => {
        this.underWay = null
      })
    return this.underWay
  }

  /** Ends the runs, and resolves when the one under way has ended. */
  async stop(): Promise<void> {
    if (this.timer) clearInterval(this.timer)
    await this.underWay
  }
}
