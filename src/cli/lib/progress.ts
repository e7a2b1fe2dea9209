/** Progress of long work, on stderr. */
import cliProgress from 'cli-progress'
import { note } from './output.js'

export interface Progress {
  update(done: number, total: number, label: string): void
  stop(): void
}

export const SILENT: Progress = { update() {}, stop() {} }

/** @param title name of the work, such as "Evaluating" */
export function progressBar(title: string): Progress {
  if (!process.stderr.isTTY) return SILENT
  const bar = new cliProgress.SingleBar(
    { format: `${title} [{bar}] {percentage}% {label}`, stream: process.stderr, hideCursor: true },
    cliProgress.Presets.rect,
  )
  let started = false
  return {
    update(done, total, label) {
      // Work that is already done needs no bar.
      if (done === total && !started) return
      if (started) bar.update(done, { label })
      else bar.start(total, done, { label })
      started = true
    },
    stop() {
      if (started) bar.stop()
    },
  }
}

/** Like `progressBar`, but a log gets a line for each step, so that its reader knows why nothing serves yet. */
export function progressSteps(title: string): Progress {
  if (process.stderr.isTTY) return progressBar(title)
  let last = ''
  return {
    update(done, total, label) {
      if (done === total && last === '') return
      if (label !== last) note(`${title}: ${label} (${done}/${total})`)
      last = label
    },
    stop() {},
  }
}
