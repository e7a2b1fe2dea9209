/** The request of a customer's backend for a challenge, and its answer. */
import sharp from 'sharp'
import { base64 } from './faces.js'

interface Asked {
  challenge_id: string
  nonce: string
  steps: string[]
}

/** Frames 200 ms apart, shared out among the steps. @param frames one for each, or one for all */
export function answerTo({ challenge_id, nonce, steps }: Asked, frames: string | string[], count = 20) {
  const images = typeof frames === 'string' ? Array.from({ length: count }, () => frames) : frames
  return {
    challenge_id,
    nonce,
    frames: images.map((image, index) => ({
      step: Math.floor((index * steps.length) / images.length),
      t_ms: index * 200,
      image,
    })),
  } as { challenge_id: string; nonce: string; frames: Array<{ step: number; t_ms: number; image: string }> }
}

/** Files of one look that are all different. */
export function takes(photo: Buffer, count = 20): Promise<string[]> {
  return Promise.all(
    Array.from({ length: count }, async (_, index) =>
      base64(
        await sharp(photo)
          .modulate({ brightness: 1 + index / 200 })
          .jpeg({ quality: 90 })
          .toBuffer(),
      ),
    ),
  )
}
