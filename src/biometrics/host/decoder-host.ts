/** The decoder process's entry: decodes one picture after the other, and ends with the thread that it decodes for. */
import { createWriteStream, writeFileSync } from 'node:fs'
import { setPriority } from 'node:os'
import { encodeFrame, type Frame, FrameReader } from '../channel/frames.js'
import { configureDecoders, decodePixels } from '../pipeline/decode-pixels.js'
import { ANSWERS_FD, type DecoderMessage, type DecoderTask } from '../pipeline/decoder-process.js'
import { BiometricError } from '../types.js'

/** As for a task of a worker: no body is larger. */
const MAX_TASK_BYTES = 256 * 1024 * 1024
/** Workers run with 10. Of a core that a worker wants as well, Linux gives a process with 12 about two fifths. */
const NICENESS = 12
/** Above the engine process's 500: of both this one costs least when memory runs out. */
const OOM_SCORE = '800'

const answers = createWriteStream('', { fd: ANSWERS_FD })

// A terminal sends its signals to all processes; this one ends when its thread hangs up.
process.on('SIGINT', () => {})
process.on('SIGTERM', () => {})
try {
  setPriority(NICENESS)
} catch {
  // Not allowed: costly pictures then compete with others.
}
try {
  writeFileSync('/proc/self/oom_score_adj', OOM_SCORE)
} catch {
  // Not Linux, or not allowed: nothing is lost but the preference.
}
configureDecoders()
const tasks = new FrameReader<DecoderTask>(MAX_TASK_BYTES, (frame) => void perform(frame))
process.stdin
  .on('data', (chunk) => tasks.push(chunk))
  // A decoder may be at work on another thread, which an orderly end would wait for.
  .once('close', () => process.kill(process.pid, 'SIGKILL'))
answer({ kind: 'ready' })

async function perform({ message: { limits }, images }: Frame<DecoderTask>): Promise<void> {
  try {
    const { pixels, ...image } = await decodePixels(images[0]!, limits)
    answer({ kind: 'decoded', image, width: pixels.width, height: pixels.height }, [pixels.data])
  } catch (error) {
    answer(refusalOf(error))
  }
}

function refusalOf(error: unknown): DecoderMessage {
  if (error instanceof BiometricError) {
    const { code, message } = error
    if (code === 'image_unreadable' || code === 'image_too_large' || code === 'image_too_small')
      return { kind: 'refused', code, message }
  }
  return { kind: 'failed', reason: error instanceof Error ? error.message : String(error) }
}

function answer(message: DecoderMessage, parts: readonly Uint8Array[] = []): void {
  for (const piece of encodeFrame(message, parts)) answers.write(piece)
}
