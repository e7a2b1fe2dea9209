/** The lane: one run at a time, batches of what has queued meanwhile, and the processor where the accelerator fails. */
import { MessageChannel } from 'node:worker_threads'
import { expect, it } from 'vitest'
import { Lane, type LaneNetwork } from '../../../src/biometrics/accelerator/lane.js'
import { Network, type NetworkOutput } from '../../../src/biometrics/pipeline/networks/network.js'

/** A network that doubles every number, and notes how it was run. */
class Doubler extends Network {
  readonly inputShape = [null, 2]
  readonly rows: number[] = []
  readonly firsts: number[] = []
  static running = 0
  static most = 0

  constructor(private readonly fail: (data: Float32Array) => string | null = () => null) {
    super()
  }

  override async run(data: Float32Array, dims: readonly number[]): Promise<Map<string, NetworkOutput>> {
    this.rows.push(dims[0]!)
    this.firsts.push(data[0]!)
    Doubler.most = Math.max(Doubler.most, ++Doubler.running)
    await new Promise((resolve) => setTimeout(resolve, 2))
    Doubler.running--
    const failure = this.fail(data)
    if (failure) throw new Error(failure)
    const outputs = data.map((value) => 2 * value)
    return new Map([['doubled', { data: outputs, dims }]])
  }

  override async release(): Promise<void> {}
}

function laneOf(networks: Record<string, Partial<LaneNetwork>>): { lane: Lane; lost: string[] } {
  const lost: string[] = []
  const whole = Object.entries(networks).map(
    ([sha256, network]) =>
      [
        sha256,
        { accelerated: new Doubler(), standby: new Doubler(), isBatchable: true, ...network },
      ] as const,
  )
  return { lane: new Lane({ networks: new Map(whole), onLost: (reason) => lost.push(reason) }), lost }
}

const double = (lane: Lane, values: number[], sha256 = 'a') =>
  new Promise<number[]>((resolve, reject) => {
    const data = Float32Array.from(values)
    const dims = [values.length / 2, 2]
    const answer = (outputs: Map<string, NetworkOutput>) => {
      const { data: doubled, dims: shape } = outputs.get('doubled')!
      expect(shape).toEqual(dims)
      resolve([...doubled])
    }
    lane.submit({ sha256, data, dims, resolve: answer, reject })
  })

it('gives each of 64 callers its own rows, in batches, and never runs two at once', async () => {
  const [first, second] = [new Doubler(), new Doubler()]
  const { lane } = laneOf({ a: { accelerated: first }, b: { accelerated: second } })
  const callers = Array.from({ length: 64 }, (_, i) => i)
  const found = await Promise.all(callers.map((i) => double(lane, [i, i + 0.5], i % 3 === 0 ? 'b' : 'a')))
  expect(found).toEqual(callers.map((i) => [2 * i, 2 * i + 1]))
  expect(first.rows.length + second.rows.length).toBeLessThan(16)
  expect(Doubler.most).toBe(1)
})

it('starts the first run at once: the batch is what has queued while the one before ran', async () => {
  const network = new Doubler()
  const { lane } = laneOf({ a: { accelerated: network } })
  await Promise.all(Array.from({ length: 9 }, (_, i) => double(lane, [i, i])))
  expect(network.rows).toEqual([1, 8])
  await double(lane, [1, 1])
  expect(network.rows).toEqual([1, 8, 1])
})

it('reads what the workers sent during a run before it chooses the next batch', async () => {
  const { port1: worker, port2: port } = new MessageChannel()
  const late: Array<Promise<number[]>> = []
  const network = new Doubler()
  // This network blocks the thread as ONNX Runtime does: the event loop has no turn before it answers.
  const blocking = new Doubler()
  blocking.run = async (data, dims) => {
    worker.postMessage('another run')
    return new Map([['doubled', { data: data.map((value) => 2 * value), dims }]])
  }
  const { lane } = laneOf({ a: { accelerated: network }, b: { accelerated: blocking } })
  port.on('message', () => late.push(double(lane, [3, 3])))
  const first = double(lane, [1, 1], 'b')
  await Promise.all([first, double(lane, [2, 2])])
  await Promise.all(late)
  expect(network.rows).toEqual([2])
  port.close()
})

it('serves a caller between the batches of another that never stops asking', async () => {
  const network = new Doubler()
  const { lane } = laneOf({ a: { accelerated: network, isBatchable: false } })
  let isDone = false
  const greedy = Array.from({ length: 8 }, async () => {
    while (!isDone) await double(lane, [7, 7])
  })
  await double(lane, [1, 1])
  isDone = true
  await Promise.all(greedy)
  // Eight runs were asked for before it, and none that was asked for after it precedes it.
  expect(network.firsts.indexOf(1)).toBe(8)
})

it('serves with the processor from the first run that the accelerator fails, and reports the loss once', async () => {
  let isGone = false
  const accelerated = new Doubler(() => (isGone ? 'device lost' : null))
  const standby = new Doubler()
  const { lane, lost } = laneOf({ a: { accelerated, standby }, b: {} })
  expect(await double(lane, [1, 2])).toEqual([2, 4])
  isGone = true
  const found = await Promise.all([1, 2, 3, 4, 5].map((i) => double(lane, [i, i])))
  expect(found).toEqual([1, 2, 3, 4, 5].map((i) => [2 * i, 2 * i]))
  expect(lost).toEqual(['device lost'])
  // One run of those five failed, and the processor did it and those after it.
  expect(accelerated.rows).toHaveLength(2)
  expect(standby.rows.reduce((sum, rows) => sum + rows)).toBe(5)
})

it('fails only the run whose input the processor refuses as well, and keeps the accelerator', async () => {
  const refuses = (data: Float32Array) => (data.includes(13) ? 'no such input' : null)
  const accelerated = new Doubler(refuses)
  const { lane, lost } = laneOf({ a: { accelerated, standby: new Doubler(refuses) } })
  const runs = [1, 2, 13, 4, 5].map((i) => double(lane, [i, i]))
  const found = await Promise.allSettled(runs)
  expect(found.map(({ status }) => status)).toEqual([
    'fulfilled',
    'fulfilled',
    'rejected',
    'fulfilled',
    'fulfilled',
  ])
  await expect(runs[2]).rejects.toThrow('no such input')
  expect(lost).toEqual([])
})

it('refuses a run of a network that it does not have', async () => {
  const { lane } = laneOf({ a: {} })
  await expect(double(lane, [1, 2], 'other')).rejects.toThrow('the lane does not have this network')
})
