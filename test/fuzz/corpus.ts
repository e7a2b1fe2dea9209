/** Files of inputs: small seeds of each target, and what once crashed one. */
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageFile } from '../../src/lib/package-root.js'

const FOLDER = packageFile('test', 'fuzz')

/** @param kind of the folder: `corpus` for seeds, `crashes` for what was found and mended */
export function readInputs(kind: 'corpus' | 'crashes', target: string): Buffer[] {
  const folder = join(FOLDER, kind, target)
  if (!existsSync(folder)) return []
  return readdirSync(folder)
    .toSorted()
    .map((name) => readFileSync(join(folder, name)))
}

/** @returns the file's path; once it is mended, it stays as a test */
export function keepCrash(target: string, input: Buffer): string {
  const folder = join(FOLDER, 'crashes', target)
  mkdirSync(folder, { recursive: true })
  const file = join(folder, createHash('sha256').update(input).digest('hex').slice(0, 16))
  writeFileSync(file, input)
  return file
}
