/** Takes down everything that a run has started, whichever way the run ends. */

type Undo = () => Promise<unknown>

const undos: Undo[] = []
let interrupted = false

/** Runs `undo` at the end, in reverse order of registration. Calling `undo` twice must be harmless. */
export function onCleanUp(undo: Undo): void {
  undos.push(undo)
}

export async function cleanUp(): Promise<void> {
  for (let undo = undos.pop(); undo; undo = undos.pop()) {
    await undo().catch((error: unknown) => process.stderr.write(`clean-up: ${error}\n`))
  }
}

/**
 * Cleans up on SIGINT and SIGTERM before the process ends: the service must drain and never be killed inside ONNX
 * Runtime.
 */
export function cleanUpOnSignals(): void {
  // A closed output (`| head`) must not end the run before it has cleaned up.
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

/** True while the run is ending: a suite's failure then only follows from the clean-up. */
export function isInterrupted(): boolean {
  return interrupted
}
