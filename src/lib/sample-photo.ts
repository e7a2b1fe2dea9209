/** Photos of faces that every installation has: the samples inside @vladmandic/face-api, whose version is pinned. */
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

/** @param file sample1.jpg to sample6.jpg */
export async function samplePhoto(file: string): Promise<Buffer> {
  const root = dirname(createRequire(import.meta.url).resolve('@vladmandic/face-api/package.json'))
  return readFile(join(root, 'demo', file))
}
