/**
 * One engine process for all services and commands that run in a test worker: starting one costs half a second of a core,
 * and a hundred of them would be started. Each engine keeps a queue, incidents and an end of its own.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { EngineProcess, type EngineProcessOptions } from '../../src/biometrics/engine/engine-process.js'
import { MODELS_DIR } from './models-dir.js'

interface Shared {
  process: Promise<EngineProcess>
  borrowers: Set<EngineProcessOptions>
}

const sharing = new AsyncLocalStorage<true>()
const kept = new Map<string, Shared>()
const startOwn = EngineProcess.start

EngineProcess.start = (options) =>
  sharing.getStore() && options.pack.dir.startsWith(MODELS_DIR) ? borrow(options) : startOwn(options)

/** Runs the callback so that every engine it starts on the tests' packs shares the process of this worker. */
export function withSharedEngine<T>(run: () => Promise<T>): Promise<T> {
  return sharing.run(true, run)
}

async function borrow(options: EngineProcessOptions): Promise<EngineProcess> {
  // The end of one borrower's start is not the end of the process that others use.
  const { onChange: _, onIncident: __, signal: ___, ...settings } = options
  const key = JSON.stringify(settings)
  let shared = kept.get(key)
  if (!shared) {
    const borrowers = new Set<EngineProcessOptions>()
    const process = startOwn({
      ...settings,
      onChange: () => borrowers.forEach((borrower) => void borrower.onChange()),
      onIncident: (incident) => borrowers.forEach((borrower) => void borrower.onIncident(incident)),
    })
    shared = { process, borrowers }
    kept.set(key, shared)
    process.catch(() => kept.delete(key))
  }
  const { borrowers } = shared
  const process = await shared.process
  borrowers.add(options)
  return new Proxy(process, {
    get(target, name) {
      if (name === 'close') return async () => void borrowers.delete(options)
      const value = Reflect.get(target, name, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}
