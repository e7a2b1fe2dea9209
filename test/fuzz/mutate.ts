/** New inputs from old ones: the bytes damaged, joined with another's, or with a word that the format knows put in. */
import { damage, type Random } from '../hostile/random.js'

/** Where lengths and counts turn over. */
const NUMBERS = [0, 1, 2, 3, 4, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff]
const MAX_STEPS = 5

export interface MutationOptions {
  words: readonly Buffer[]
  mostBytes: number
}

export function mutate(
  corpus: readonly Buffer[],
  random: Random,
  { words, mostBytes }: MutationOptions,
): Buffer {
  // The younger half is where the unexplored is.
  const from =
    random.next() < 0.5
      ? random.below(corpus.length)
      : corpus.length - 1 - random.below(Math.ceil(corpus.length / 2))
  let bytes = corpus[from]!
  for (let steps = 1 + random.below(MAX_STEPS); steps > 0; steps--) bytes = step(bytes, corpus, random, words)
  return bytes.subarray(0, mostBytes)
}

function step(bytes: Buffer, corpus: readonly Buffer[], random: Random, words: readonly Buffer[]): Buffer {
  if (bytes.length === 0) return Buffer.from([random.below(256)])
  const at = random.below(bytes.length + 1)
  switch (random.below(6)) {
    case 0: {
      const other = random.pick(corpus)
      return Buffer.concat([bytes.subarray(0, at), other.subarray(random.below(other.length + 1))])
    }
    case 1:
    case 2: {
      const word = words.length > 0 ? random.pick(words) : Buffer.of(random.below(256))
      // In between, or over what stood there.
      return Buffer.concat([
        bytes.subarray(0, at),
        word,
        bytes.subarray(at + (random.below(2) ? word.length : 0)),
      ])
    }
    case 3:
      return withNumber(bytes, random)
    default:
      return damage(bytes, random)
  }
}

/** One of the numbers, one, two or four bytes wide, in either order. */
function withNumber(bytes: Buffer, random: Random): Buffer {
  const width = random.pick([1, 2, 4])
  if (bytes.length < width) return bytes
  const changed = Buffer.from(bytes)
  const at = random.below(bytes.length - width + 1)
  const value = random.pick(NUMBERS) % 2 ** (8 * width)
  if (random.below(2)) changed.writeUIntLE(value, at, width)
  else changed.writeUIntBE(value, at, width)
  return changed
}
