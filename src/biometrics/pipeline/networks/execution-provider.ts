/** Selects the hardware that runs the networks: providers are tried in order, and every fallback keeps its reason. */
import { env, InferenceSession } from 'onnxruntime-node'
import type { ProviderStatus } from '../../types.js'
import { STAND_IN_PROVIDER } from './accelerators.js'

/**
 * Calls `attempt` with each provider until one succeeds; `cpu` is always the last resort and its failure is thrown.
 * ONNX Runtime itself does not fall back: even `['cuda', 'cpu']` throws where CUDA cannot be loaded. `attempt` should
 * therefore include a first inference, since a provider may load and still not run.
 */
export async function withFirstWorkingProvider<T>(
  providers: readonly string[],
  attempt: (provider: string) => Promise<T>,
): Promise<{ value: T; status: ProviderStatus }> {
  const fallbacks: ProviderStatus['fallbacks'] = []
  for (const provider of new Set(providers)) {
    if (provider === 'cpu') break
    try {
      return { value: await attempt(provider), status: { active: provider, fallbacks } }
    } catch (error) {
      fallbacks.push({ provider, reason: firstLine(error) })
    }
  }
  return { value: await attempt('cpu'), status: { active: 'cpu', fallbacks } }
}

// Only fatal messages are printed: every other failure comes back as an exception with its reason.
env.logLevel = 'fatal'

/**
 * Loads a network from memory for one provider. Blocks the calling thread while ONNX Runtime optimises the graph.
 * @param threads number of threads that compute one run on the processor
 */
export function createSession(
  bytes: Uint8Array,
  provider: string,
  threads: number,
): Promise<InferenceSession> {
  return InferenceSession.create(bytes, {
    executionProviders: [provider === STAND_IN_PROVIDER ? 'cpu' : provider],
    // Measured: one thread a worker, and a worker a core, gives twice the throughput of the defaults.
    intraOpNumThreads: threads,
    // Threads that wait for work by spinning take the cores from those that decode and align.
    ...(threads > 1 ? { extra: { session: { intra_op: { allow_spinning: '0' } } } } : {}),
    interOpNumThreads: 1,
    executionMode: 'sequential',
    graphOptimizationLevel: 'all',
    // An arena keeps the most that any run has needed, a session each: 40 MiB of 165 at the start of two workers, 60 of 150 after 600
    // photos. Without it a run takes 0 to 5 % more time on the processor.
    enableCpuMemArena: false,
    logSeverityLevel: 4,
  })
}

function firstLine(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error)
  return text.split('\n', 1)[0]!.slice(0, 200)
}
