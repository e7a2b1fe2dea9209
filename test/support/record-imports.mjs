/** `node --import` this file: every module that is imported is named on stderr. */
import { writeSync } from 'node:fs'
import { register } from 'node:module'
import { isMainThread } from 'node:worker_threads'

// Node runs the hooks below in a thread of their own.
if (isMainThread) register(import.meta.url)

export function load(url, context, nextLoad) {
  writeSync(2, `${url}\n`)
  return nextLoad(url, context)
}
