/** The request of a customer's backend for a challenge. */

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
