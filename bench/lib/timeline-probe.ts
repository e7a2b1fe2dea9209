/**
 * Preloaded into the service and, through its arguments, into the engine's process and threads: records when a verify
 * passes the places that `timeline` draws. The product itself has no part in it.
 */
import { appendFileSync } from 'node:fs'
import { EngineProcess } from '../../src/biometrics/engine/engine-process.js'
import { FacePipeline } from '../../src/biometrics/pipeline/face-pipeline.js'
import { FaceAligner } from '../../src/biometrics/pipeline/networks/align.js'
import { FaceDetector } from '../../src/biometrics/pipeline/networks/detect.js'
import { FaceEmbedder } from '../../src/biometrics/pipeline/networks/embed.js'
import { LandmarkFinder } from '../../src/biometrics/pipeline/networks/landmarks.js'
import { Mutex } from '../../src/biometrics/pipeline/networks/mutex.js'
import { RequestAuthenticator } from '../../src/http/authentication/request-authenticator.js'
import { ReplySigner } from '../../src/http/reply-signer.js'
import { Router } from '../../src/http/routing/router.js'
import { Idempotency } from '../../src/idempotency/idempotency.js'
import { SqliteStore } from '../../src/storage/sqlite/sqlite-store.js'
import { TIMELINE_FILE } from './timeline-events.js'

const KEPT_MS = 200

const file = process.env[TIMELINE_FILE]
let lines = ''

function note(event: string): void {
  // One clock for all processes of a machine.
  lines += `${event} ${Number(process.hrtime.bigint()) / 1e6}\n`
}

type Method = (...args: unknown[]) => unknown

/** The promise that a method's result waits for: the result, or the reply of a worker in it. */
function promiseIn(result: unknown): Promise<unknown> | undefined {
  if (result instanceof Promise) return result
  const reply = (result as { reply?: unknown } | undefined)?.reply
  return reply instanceof Promise ? reply : undefined
}

/** Records `name<` when a method is called and `name>` when its result is there. */
function watch<Prototype extends object>(
  prototype: Prototype,
  method: Extract<keyof Prototype, string>,
  name: string,
): void {
  const methods = prototype as Record<string, Method>
  const real = methods[method]!
  methods[method] = function (this: unknown, ...args) {
    note(`${name}<`)
    const result = real.apply(this, args)
    const pending = promiseIn(result)
    if (!pending) {
      note(`${name}>`)
      return result
    }
    const noted = pending.finally(() => note(`${name}>`))
    return result instanceof Promise ? noted : { ...(result as object), reply: noted }
  }
}

if (file) {
  watch(Router.prototype, 'find', 'route')
  watch(RequestAuthenticator.prototype, 'authenticate', 'authenticate')
  watch(Idempotency.prototype, 'begin', 'idempotency')
  watch(EngineProcess.prototype, 'run', 'engine')
  watch(SqliteStore.prototype, 'transaction', 'commit')
  watch(ReplySigner.prototype, 'sign', 'sign')
  watch(FacePipeline.prototype, 'analyse', 'analyse')
  watch(Mutex.prototype, 'lock', 'turn')
  watch(FaceDetector.prototype, 'detect', 'detect')
  watch(LandmarkFinder.prototype, 'find', 'landmarks')
  watch(FaceAligner.prototype, 'cut', 'align')
  watch(FaceEmbedder.prototype, 'run', 'embed')
  // Threads of the engine are ended, and record nothing afterwards.
  setInterval(() => {
    if (lines) appendFileSync(file, lines)
    lines = ''
  }, KEPT_MS).unref()
}
