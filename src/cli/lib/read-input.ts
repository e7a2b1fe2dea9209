/** Reads a file that the command line names. */
import { readFile } from 'node:fs/promises'
import { CommandError } from './output.js'

/** @throws CommandError file_unreadable */
export async function readInput(file: string): Promise<Buffer> {
  try {
    return await readFile(file)
  } catch (error) {
    throw new CommandError('file_unreadable', `Cannot read ${file}: ${(error as Error).message}`)
  }
}
