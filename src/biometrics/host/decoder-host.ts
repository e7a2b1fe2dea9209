/** Entry of the decoder process: decodes one picture after the other, and ends with the thread for which it decodes. */
import { createWriteStream } from 'node:fs'
import { type Frame, FrameReader, MAX_TASK_BYTES, writeFrame } from '../channel/frames.js'
import { configureDecoders, decodePixels, encodeAsPng } from '../pipeline/decode/decode-pixels.js'
import { ANSWERS_FD, type DecoderMessage, type DecoderTask } from '../pipeline/decode/decoder-process.js'
import { BiometricError } from '../types.js'
import { giveWay } from './give-way.js'

/**
 * Nice value of this process. Workers run with 10; when both want a core, Linux gives a process with 12 about two
 * fifths of it.
 */
const NICENESS = 12
/** Linux kills this process before the engine process (500) when memory runs out: it is the cheaper one to lose. */
const OOM_SCORE = 800

const answers = createWriteStream('', { fd: ANSWERS_FD })

// The thread ends this process by hanging up.
giveWay(NICENESS, OOM_SCORE)
configureDecoders()
const tasks = new FrameReader<DecoderTask>(MAX_TASK_BYTES, (frame) => void perform(frame))
process.stdin
  .on('data', (chunk) => tasks.push(chunk))
  // A decoder may be working on another thread, for which an orderly exit would wait.
  .once('close', () => process.kill(process.pid, 'SIGKILL'))
answer({ kind: 'ready' })

async function perform({ message: { limits, png }, images }: Frame<DecoderTask>): Promise<void> {
  const bytes = images[0]!
  try {
    if (png) {
      const { png: encoded, ...size } = await encodeAsPng(bytes, limits, png)
      return answer({ kind: 'encoded', ...size }, [encoded])
    }
    const { pixels, ...image } = await decodePixels(bytes, limits)
    answer({ kind: 'decoded', image, width: pixels.width, height: pixels.height }, [pixels.data])
  } catch (error) {
    answer(refusalOf(error))
  }
}

/**
 * Texts of libvips and of its decoders where the system gave no memory. libwebp does not say why it failed: its picture
 * counts as damaged.
 */
const OUT_OF_MEMORY = /out of memory|insufficient memory|error creating thread/i

function refusalOf(error: unknown): DecoderMessage {
  if (error instanceof BiometricError) {
    const { code, message, cause } = error
    if (cause instanceof Error && OUT_OF_MEMORY.test(cause.message)) return { kind: 'out_of_memory' }
    if (code === 'image_unreadable' || code === 'image_too_large' || code === 'image_too_small')
      return { kind: 'refused', code, message }
  }
  return { kind: 'failed', reason: error instanceof Error ? error.message : String(error) }
}

function answer(message: DecoderMessage, parts: readonly Uint8Array[] = []): void {
  writeFrame(answers, message, parts)
}
