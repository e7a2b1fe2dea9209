/** Workers that help each other, on the memory that they share; here on one thread, which changes nothing for them. */
import { describe, expect, it } from 'vitest'
import type { LentNetwork } from '../../../src/biometrics/pipeline/views.js'
import { clearSeat, makeSeats, Seat } from '../../../src/biometrics/worker/seats.js'

type Run = (network: LentNetwork, views: Float32Array) => Promise<Float32Array>

const ROOM = { input: 8, output: 4 }
const VIEWS = Float32Array.of(1, 2, 3)
const doubled: Run = async (_network, views) => views.map((value) => 2 * value)

/** One that asks, and others that help with what is given. */
function seated(...helpers: Run[]) {
  const seats = makeSeats(helpers.length + 1, ROOM)
  const asker = new Seat(seats, 0)
  const others = helpers.map((run, i) => {
    const seat = new Seat(seats, i + 1)
    void seat.help(run)
    return seat
  })
  return { seats, asker, others }
}

/** A run that says when it has begun, and ends when it is told to. */
function held() {
  let tellBegun!: () => void
  let end!: (output: Float32Array) => void
  const begun = new Promise<void>((resolve) => {
    tellBegun = resolve
  })
  const output = new Promise<Float32Array>((resolve) => {
    end = resolve
  })
  const run: Run = () => {
    tellBegun()
    return output
  }
  return { run, begun, end }
}

/** Until the function that it returns is called. */
function keepBusy(seat: Seat): () => Promise<void> {
  let end!: () => void
  const task = new Promise<void>((resolve) => {
    end = resolve
  })
  const busy = seat.whileBusy(() => task)
  return () => {
    end()
    return busy
  }
}

describe('who has nothing to do', () => {
  it('runs what it is asked, on a copy', async () => {
    const asked: unknown[] = []
    const { asker } = seated(async (network, views) => {
      asked.push([network, [...views], views.buffer instanceof SharedArrayBuffer])
      return doubled(network, views)
    })
    for (const network of ['embedder', 'landmarks'] as const) {
      const help = asker.ask(network, VIEWS)!
      await expect.poll(() => asked.length).toBe(network === 'embedder' ? 1 : 2)
      expect(await help.result()).toEqual(Float32Array.of(2, 4, 6))
    }
    expect(asked).toEqual([
      ['embedder', [1, 2, 3], false],
      ['landmarks', [1, 2, 3], false],
    ])
  })

  it('is waited for once it has begun', async () => {
    const { run, begun, end } = held()
    const { asker } = seated(run)
    const help = asker.ask('embedder', VIEWS)!
    await begun
    const result = help.result()
    end(Float32Array.of(7))
    expect(await result).toEqual(Float32Array.of(7))
  })

  it('is not waited for when it has not begun, and then does not begin', async () => {
    let runs = 0
    const { asker } = seated(async (network, views) => {
      runs++
      return doubled(network, views)
    })
    const help = asker.ask('embedder', VIEWS)!
    expect(await help.result()).toBeNull()
    const next = asker.ask('embedder', Float32Array.of(5))!
    await expect.poll(() => runs).toBe(1)
    expect(await next.result()).toEqual(Float32Array.of(10))
  })

  it('helps one at a time', async () => {
    const { run, begun, end } = held()
    const { asker } = seated(run, doubled)
    const first = asker.ask('embedder', VIEWS)!
    await begun
    expect(asker.ask('embedder', VIEWS)).not.toBeNull()
    expect(asker.ask('embedder', VIEWS)).toBeNull()
    end(VIEWS)
    await first.result()
    expect(asker.ask('embedder', VIEWS)).not.toBeNull()
  })

  it('is nobody while it has tasks, and nobody after it has left', async () => {
    const { asker, others } = seated(doubled)
    const [other] = others
    const end = keepBusy(other!)
    expect(asker.ask('embedder', VIEWS)).toBeNull()
    await end()
    expect(await asker.ask('embedder', VIEWS)!.result()).toBeNull()
    other!.leave()
    expect(asker.ask('embedder', VIEWS)).toBeNull()
  })

  it('is never who asks', () => {
    const { asker } = seated()
    void asker.help(doubled)
    expect(asker.ask('embedder', VIEWS)).toBeNull()
  })
})

describe('what goes wrong at the neighbour', () => {
  it('leaves the work to who asked, when its network fails', async () => {
    let runs = 0
    const { asker } = seated(async () => {
      runs++
      throw new Error('no memory')
    })
    const help = asker.ask('embedder', VIEWS)!
    await expect.poll(() => runs).toBe(1)
    expect(await help.result()).toBeNull()
  })

  it('leaves the work to who asked, when its thread dies', async () => {
    const { run, begun } = held()
    const { seats, asker } = seated(run)
    const help = asker.ask('embedder', VIEWS)!
    await begun
    const result = help.result()
    clearSeat(seats, 1)
    expect(await result).toBeNull()
    expect(asker.ask('embedder', VIEWS)).toBeNull()
    // The thread that takes its place.
    void new Seat(seats, 1).help(doubled)
    expect(asker.ask('embedder', VIEWS)).not.toBeNull()
  })
})

describe('a neighbour whose asker died', () => {
  it('helps others, who never get what was made for the dead', async () => {
    const { run, begun, end } = held()
    const outputs = [run, doubled]
    const { seats, asker, others } = seated((network, views) => outputs.shift()!(network, views), doubled)
    asker.ask('embedder', VIEWS)
    await begun
    clearSeat(seats, 0)
    const second = others[1]!
    const endTask = keepBusy(second)
    // It still computes for the dead.
    const help = second.ask('embedder', Float32Array.of(5))!
    end(Float32Array.of(99))
    await expect.poll(() => outputs.length).toBe(0)
    expect(await help.result()).toEqual(Float32Array.of(10))
    await endTask()
  })
})
