/** What a run has started and must take down again, whichever way it ends. */

type Undo = () => Promise<unknown>

const undos: Undo[] = []
let interrupted = false

/** Runs `undo` at the end, in reverse order of registration. Undoing twice must be harmless. */
export function onCleanUp(undo: Undo): void {
  undos.push(undo)
}

export async function cleanUp(): Promise<void> {
  for (let undo = undos.pop(); undo; undo = undos.pop()) {
    await undo().catch((error: unknown) => process.stderr.write(`clean-up: ${error}\n`))
  }
}

/** SIGINT and SIGTERM clean up before the process ends: the service must drain, never be killed inside ONNX Runtime. */
export function cleanUpOnSignals(): void {
  // A reader that has seen enough (`| head`) must not end the run before it has cleaned up.
  process.stdout.on('error', () => {})
  process.stderr.on('error', () => {})
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      if (interrupted) return
      interrupted = true
      process.stderr.write(`\n${signal}: stopping …\n`)
      void cleanUp().finally(() => process.exit(signal === 'SIGINT' ? 130 : 143))
    })
  }
}

/** The run is on its way out: a suite's failure is only the echo of what was taken from under it. */
export function isInterrupted(): boolean {
  return interrupted
}
