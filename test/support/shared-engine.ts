/**
 * One engine process for all services and commands of a test worker with the same settings and the same packs, wherever these lie:
 * starting one costs half a second of a core, and hundreds of them would be started. `Engine.start` has checked the files of the packs
 * against their hashes by then. Each engine keeps a queue, incidents and an end of its own.
 *
 * A process that has nothing else to do answers a task that one with the same settings and packs has done in this run as that one did:
 * most tests send the same few photos, whose networks would take more of a core than all else that the tests do.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { deserialize, serialize } from 'node:v8'
import { inject } from 'vitest'
import type { WorkerTask } from '../../src/biometrics/channel/engine-protocol.js'
import type { WorkerReply } from '../../src/biometrics/channel/worker-messages.js'
import { EngineProcess, type EngineProcessOptions } from '../../src/biometrics/engine/engine-process.js'
import { MODELS_DIR } from './models-dir.js'

interface Shared {
  process: Promise<EngineProcess>
  borrowers: Set<EngineProcessOptions>
  /** Whether it runs the packs of all tests, which most of them need again. */
  isLasting: boolean
  /** Number of tasks that its workers have now. */
  running: number
}

type Run = ReturnType<EngineProcess['run']>

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
    const isLasting = options.pack.dir.startsWith(MODELS_DIR)
    shared = { process, borrowers, isLasting, running: 0 }
    kept.set(key, shared)
    process.catch(() => kept.delete(key))
  }
  const borrowed = shared
  borrowed.borrowers.add(options)
  const process = await borrowed.process
  return new Proxy(process, {
    get(target, name) {
      if (name === 'close') return async () => giveBack(key, options)
      if (name === 'run') return (task: WorkerTask) => run(key, borrowed, target, task)
      const value = Reflect.get(target, name, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

function run(key: string, shared: Shared, process: EngineProcess, task: WorkerTask): Run {
  // A task that others hold up has to wait as they do, and a fault breaks the worker each time.
  const isAsked = task.type === 'fault' || shared.running > 0 || process.readyCount === 0
  const file = isAsked ? null : replyFile(key, task)
  if (file && existsSync(file)) return { reply: Promise.resolve(readReply(file)), cancel: () => {} }
  const run = process.run(task)
  shared.running++
  void run.reply
    .then((reply) => file && reply.ok && keepReply(file, reply))
    .catch(() => {})
    .finally(() => shared.running--)
  return run
}

function replyFile(key: string, { images, ...task }: Exclude<WorkerTask, { type: 'fault' }>): string {
  const hash = createHash('sha1').update(JSON.stringify([key, task, images.map(({ length }) => length)]))
  for (const image of images) hash.update(image)
  return join(inject('repliesDir'), hash.digest('hex'))
}

const readReply = (file: string): WorkerReply => deserialize(readFileSync(file))

function keepReply(file: string, reply: WorkerReply): void {
  // Another worker of the tests may read it meanwhile.
  const half = `${file}.${process.pid}`
  writeFileSync(half, serialize(reply))
  renameSync(half, file)
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
