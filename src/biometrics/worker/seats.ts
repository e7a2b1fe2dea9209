/**
 * The workers of an engine process lend each other a hand: who has nothing to do computes a part of another's face. One caller
 * alone then has more of the machine than one core, and whoever comes meanwhile waits for that part at most. All goes through
 * memory that the threads share; none ever stands still for another.
 */
import type { WorkerSetup } from '../channel/engine-protocol.js'
import { ScratchBuffer } from '../pipeline/scratch-buffer.js'
import {
  type Help,
  LENT_NETWORKS,
  type LentNetwork,
  type LentRoom,
  type Neighbours,
} from '../pipeline/views.js'

/** What the threads of all seats share. */
export interface SharedSeats {
  /** [seats × WORDS] */
  control: Int32Array<SharedArrayBuffer>
  /** [seats × room.input]: views on their way to the seat. */
  inputs: Float32Array<SharedArrayBuffer>
  /** [seats × room.output]: what its network made of them. */
  outputs: Float32Array<SharedArrayBuffer>
  room: LentRoom
}

/** What a worker is started with, and where it sits. */
export interface SeatedSetup extends WorkerSetup {
  seat: number
  seats: SharedSeats
}

const WORDS = 7
/** The words of a seat. IS_IDLE: 1 while its worker has no task and can be asked. BELL: changes with every call for it. */
const [IS_IDLE, PHASE, BELL, ASKER, NETWORK, INPUT_LENGTH, OUTPUT_LENGTH] = [0, 1, 2, 3, 4, 5, 6]

/** Of what a seat is asked. The asker takes it from free to reserved to asked, its worker to taken, then to done or failed, the asker to free. */
const [FREE, RESERVED, ASKED, TAKEN, DONE, FAILED] = [0, 1, 2, 3, 4, 5]

export function makeSeats(count: number, room: LentRoom): SharedSeats {
  const bytes = (length: number) => new SharedArrayBuffer(length * Float32Array.BYTES_PER_ELEMENT)
  return {
    control: new Int32Array(bytes(count * WORDS)),
    inputs: new Float32Array(bytes(count * room.input)),
    outputs: new Float32Array(bytes(count * room.output)),
    room,
  }
}

/** After the thread of a seat has died: whom it helped computes alone, and who was to help it is free again. */
export function clearSeat({ control }: SharedSeats, seat: number): void {
  const own = seat * WORDS
  Atomics.store(control, own + IS_IDLE, 0)
  Atomics.compareExchange(control, own + PHASE, TAKEN, FAILED)
  Atomics.notify(control, own + PHASE)
  for (let other = 0; other < control.length; other += WORDS)
    if (Atomics.load(control, other + PHASE) !== FREE && Atomics.load(control, other + ASKER) === seat)
      Atomics.store(control, other + PHASE, FREE)
}

/** A worker's own seat, from which it sees the others. */
export class Seat implements Neighbours {
  private readonly own: number
  private readonly lent = new ScratchBuffer()
  private isOpen = false
  private tasks = 0

  constructor(
    private readonly seats: SharedSeats,
    private readonly seat: number,
  ) {
    this.own = seat * WORDS
  }

  /**
   * Helps whoever asks, until the seat is left.
   * @param run may read the views until its promise is settled
   */
  async help(run: (network: LentNetwork, views: Float32Array) => Promise<Float32Array>): Promise<void> {
    const { control } = this.seats
    this.isOpen = true
    this.tell()
    while (this.isOpen) {
      const bell = Atomics.load(control, this.own + BELL)
      if (Atomics.compareExchange(control, this.own + PHASE, ASKED, TAKEN) !== ASKED) {
        await Atomics.waitAsync(control, this.own + BELL, bell).value
        continue
      }
      const isDone = await this.helpOnce(run).then(
        () => true,
        // Whoever asked meets the same when it tries for itself.
        () => false,
      )
      // Nothing where the asker has died meanwhile: then it may be somebody else's turn.
      Atomics.compareExchange(control, this.own + PHASE, TAKEN, isDone ? DONE : FAILED)
      Atomics.notify(control, this.own + PHASE)
    }
  }

  private async helpOnce(
    run: (network: LentNetwork, views: Float32Array) => Promise<Float32Array>,
  ): Promise<void> {
    const { control, inputs, outputs, room } = this.seats
    const network = LENT_NETWORKS[Atomics.load(control, this.own + NETWORK)]!
    const length = Atomics.load(control, this.own + INPUT_LENGTH)
    const from = this.seat * room.input
    // A copy, since ONNX Runtime takes no shared memory.
    const views = this.lent.take(length)
    views.set(inputs.subarray(from, from + length))
    const output = await run(network, views)
    outputs.set(output, this.seat * room.output)
    Atomics.store(control, this.own + OUTPUT_LENGTH, output.length)
  }

  /** While it works for itself, nobody asks it. */
  async whileBusy(work: () => Promise<void>): Promise<void> {
    this.tasks++
    this.tell()
    try {
      await work()
    } finally {
      this.tasks--
      this.tell()
    }
  }

  /** Its worker serves no more. */
  leave(): void {
    const { control } = this.seats
    this.isOpen = false
    this.tell()
    Atomics.add(control, this.own + BELL, 1)
    Atomics.notify(control, this.own + BELL)
  }

  ask(network: LentNetwork, views: Float32Array): Help | null {
    const { control, inputs, room } = this.seats
    const count = control.length / WORDS
    // First whoever sits next: so two that ask do not ask the same.
    for (let step = 1; step < count; step++) {
      const seat = (this.seat + step) % count
      const other = seat * WORDS
      if (Atomics.load(control, other + IS_IDLE) === 0) continue
      if (Atomics.compareExchange(control, other + PHASE, FREE, RESERVED) !== FREE) continue
      Atomics.store(control, other + ASKER, this.seat)
      inputs.set(views, seat * room.input)
      Atomics.store(control, other + NETWORK, LENT_NETWORKS.indexOf(network))
      Atomics.store(control, other + INPUT_LENGTH, views.length)
      Atomics.store(control, other + PHASE, ASKED)
      Atomics.add(control, other + BELL, 1)
      Atomics.notify(control, other + BELL)
      return { result: () => this.resultOf(seat) }
    }
    return null
  }

  private async resultOf(seat: number): Promise<Float32Array | null> {
    const { control, outputs, room } = this.seats
    const phase = seat * WORDS + PHASE
    // What has not begun is not waited for: that worker may be without a core, or have a task of its own by now.
    if (Atomics.compareExchange(control, phase, ASKED, FREE) === ASKED) return null
    while (Atomics.load(control, phase) === TAKEN) await Atomics.waitAsync(control, phase, TAKEN).value
    const from = seat * room.output
    const length = Atomics.load(control, seat * WORDS + OUTPUT_LENGTH)
    const output = Atomics.load(control, phase) === DONE ? outputs.slice(from, from + length) : null
    Atomics.store(control, phase, FREE)
    return output
  }

  private tell(): void {
    const isIdle = this.isOpen && this.tasks === 0
    Atomics.store(this.seats.control, this.own + IS_IDLE, isIdle ? 1 : 0)
  }
}
