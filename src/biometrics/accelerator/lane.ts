/**
 * The one lane to an accelerator: does the runs of all workers one batch after the other, so that never two run at
 * once. A run that the accelerator fails is done by the processor, as are all later ones.
 */
import { setImmediate as turn } from 'node:timers/promises'
import type { Network, NetworkOutput } from '../pipeline/networks/network.js'
import { BatchQueue, rowsOf, type WaitingRun } from './batch-queue.js'

/** A network in two sessions of the lane's thread. */
export interface LaneNetwork {
  accelerated: Network
  /** On the processor, with the same graph: it serves when the accelerator is lost. */
  standby: Network
  /** Whether one run may have any number of rows, and gives as many rows of each output. */
  isBatchable: boolean
}

/** A run that a worker asks for. */
export interface LaneRun extends WaitingRun {
  data: Float32Array
  resolve: (outputs: Map<string, NetworkOutput>) => void
  reject: (error: Error) => void
}

export interface LaneOptions {
  /** The keys are the SHA-256 sums of their files. */
  networks: ReadonlyMap<string, LaneNetwork>
  /** Called once, when the accelerator fails a run that the processor does. */
  onLost: (reason: string) => void
  /** Called before and after each run. Default: nothing. */
  onRun?: () => void
}

export class Lane {
  private readonly queue: BatchQueue<LaneRun>
  private isBusy = false
  private isLost = false
  private injected: (() => void) | undefined

  constructor(private readonly options: LaneOptions) {
    this.queue = new BatchQueue((sha256) => options.networks.get(sha256)!.isBatchable)
  }

  /** Adds a run, which is settled by its own `resolve` or `reject`. */
  submit(run: LaneRun): void {
    if (!this.options.networks.has(run.sha256)) {
      run.reject(new Error('the lane does not have this network'))
      return
    }
    this.queue.push(run)
    if (!this.isBusy) void this.serve()
  }

  /** Has the accelerator's next runs call `fault` first, for tests. */
  inject(fault: () => void): void {
    this.injected = fault
  }

  private async serve(): Promise<void> {
    this.isBusy = true
    for (let batch = this.queue.take(); batch.length > 0; batch = this.queue.take()) {
      await this.compute(batch)
      // The run blocked the thread: what the workers have sent meanwhile is read here, and is the next batch.
      await turn()
    }
    this.isBusy = false
  }

  private async compute(batch: readonly LaneRun[]): Promise<void> {
    try {
      share(batch, await this.runOnce(batch))
    } catch (error) {
      // Runs that fail together are done once more one by one: no worker's input fails another worker's run.
      if (batch.length > 1) for (const run of batch) await this.compute([run])
      else batch[0]!.reject(error as Error)
    }
  }

  private async runOnce(batch: readonly LaneRun[]): Promise<Map<string, NetworkOutput>> {
    const { accelerated, standby } = this.options.networks.get(batch[0]!.sha256)!
    const { data, dims } = joined(batch)
    if (this.isLost) return this.timed(() => standby.run(data, dims))
    try {
      return await this.timed(() => {
        this.injected?.()
        return accelerated.run(data, dims)
      })
    } catch (error) {
      // An input that the processor refuses as well says nothing of the accelerator.
      const outputs = await this.timed(() => standby.run(data, dims))
      this.isLost = true
      this.options.onLost((error as Error).message)
      return outputs
    }
  }

  private async timed<T>(run: () => Promise<T>): Promise<T> {
    this.options.onRun?.()
    try {
      return await run()
    } finally {
      this.options.onRun?.()
    }
  }
}

/** One input with the rows of all runs. */
function joined(batch: readonly LaneRun[]): { data: Float32Array; dims: readonly number[] } {
  const [first] = batch as [LaneRun]
  if (batch.length === 1) return first
  const data = new Float32Array(batch.reduce((length, run) => length + run.data.length, 0))
  let [start, rows] = [0, 0]
  for (const run of batch) {
    data.set(run.data, start)
    start += run.data.length
    rows += rowsOf(run)
  }
  return { data, dims: [rows, ...first.dims.slice(1)] }
}

/** Gives each run its rows of each output. */
function share(batch: readonly LaneRun[], outputs: Map<string, NetworkOutput>): void {
  if (batch.length === 1) {
    batch[0]!.resolve(outputs)
    return
  }
  const rows = batch.reduce((sum, run) => sum + rowsOf(run), 0)
  let start = 0
  for (const run of batch) {
    const end = start + rowsOf(run)
    const own = new Map<string, NetworkOutput>()
    for (const [name, { data, dims }] of outputs) {
      const length = data.length / rows
      own.set(name, { data: data.slice(start * length, end * length), dims: [end - start, ...dims.slice(1)] })
    }
    run.resolve(own)
    start = end
  }
}
