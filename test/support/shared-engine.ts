/**
 * One engine process for all services and commands of a test worker with the same settings and the same packs, wherever these lie:
 * starting one costs half a second of a core, and hundreds of them would be started. `Engine.start` has checked the files of the packs
 * against their hashes by then. Each engine keeps a queue, incidents and an end of its own.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { EngineProcess, type EngineProcessOptions } from '../../src/biometrics/engine/engine-process.js'
import { MODELS_DIR } from './models-dir.js'

interface Shared {
  process: Promise<EngineProcess>
  borrowers: Set<EngineProcessOptions>
  /** Whether it runs the packs of all tests, which most of them need again. */
  isLasting: boolean
}

/** Engines with packs of a test that wait for another test with the same: each holds 150 MB. */
const MAX_WAITING = 2

const sharing = new AsyncLocalStorage<true>()
const kept = new Map<string, Shared>()
const startOwn = EngineProcess.start

EngineProcess.start = (options) => (sharing.getStore() ? borrow(options) : startOwn(options))

/** Runs the callback so that every engine it starts shares a process of this worker. */
export function withSharedEngine<T>(run: () => Promise<T>): Promise<T> {
  return sharing.run(true, run)
}

async function borrow(options: EngineProcessOptions): Promise<EngineProcess> {
  // The end of one borrower's start is not the end of the process that others use.
  const { onChange: _, onIncident: __, signal: ___, ...settings } = options
  const key = JSON.stringify(settings, (name, value) => (name === 'dir' ? undefined : value))
  let shared = kept.get(key)
  if (!shared) {
    const borrowers = new Set<EngineProcessOptions>()
    const process = startOwn({
      ...settings,
      onChange: () => borrowers.forEach((borrower) => void borrower.onChange()),
      onIncident: (incident) => borrowers.forEach((borrower) => void borrower.onIncident(incident)),
    })
    shared = { process, borrowers, isLasting: options.pack.dir.startsWith(MODELS_DIR) }
    kept.set(key, shared)
    process.catch(() => kept.delete(key))
  }
  shared.borrowers.add(options)
  const process = await shared.process
  return new Proxy(process, {
    get(target, name) {
      if (name === 'close') return async () => giveBack(key, options)
      const value = Reflect.get(target, name, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

async function giveBack(key: string, options: EngineProcessOptions): Promise<void> {
  const shared = kept.get(key)
  if (!shared?.borrowers.delete(options)) return
  // The last in the map is the last that was used.
  kept.delete(key)
  kept.set(key, shared)
  const waiting = [...kept].filter(([, { borrowers, isLasting }]) => !isLasting && borrowers.size === 0)
  for (const [key, { process }] of waiting.slice(0, -MAX_WAITING)) {
    kept.delete(key)
    await (await process).close()
  }
}
