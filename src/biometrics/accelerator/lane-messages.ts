/**
 * Messages of the lane: between the engine process and the thread that owns an accelerator's sessions, and between
 * that thread and each worker, over a port of their own.
 */
import type { MessagePort } from 'node:worker_threads'
import type { ModelPack } from '../../../models/pack/model-pack.js'
import type { NetworkOutput } from '../pipeline/networks/network.js'
import type { ImageLimits, ProviderStatus } from '../types.js'

/** The thread's `workerData`. */
export interface LaneSetup {
  packs: ModelPack[]
  /** Accelerators in order of preference. */
  providers: readonly string[]
  limits: ImageLimits
  /** Number of threads that compute when the processor runs a network. */
  processorThreads: number
  /** Counter of the runs: odd while a run is under way. Shared, since the thread answers nothing meanwhile. */
  runs: SharedArrayBuffer
}

/** A network of the lane as a worker sees it. */
export interface LaneNetworkShape {
  /** SHA-256 of the network's file. */
  sha256: string
  inputShape: ReadonlyArray<number | null>
}

/** From the thread to the engine process. */
export type LaneEvent =
  | { kind: 'ready'; provider: ProviderStatus; networks: LaneNetworkShape[] }
  /** None of the accelerators can serve: the thread ends. */
  | { kind: 'none'; provider: ProviderStatus }
  /** The accelerator failed a run that the processor could do, and the processor does all runs from now on. */
  | { kind: 'lost'; reason: string }

/** From the engine process to the thread: a worker's port to serve; without one, the thread ends. */
export interface LaneOrder {
  port?: MessagePort
}

/** Ways to break the lane on purpose. */
export type LaneFault = 'lose' | 'exit' | 'hang'

/** From a worker to the thread. The samples are the worker's no longer. */
export type LaneRequest =
  | { id: number; sha256: string; data: Float32Array; dims: readonly number[] }
  | { fault: LaneFault }

/** From the thread to a worker. */
export type LaneReply = { id: number; outputs: Map<string, NetworkOutput> } | { id: number; error: string }
