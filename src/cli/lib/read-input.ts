/** Reads a file that the command line names, or the text that is piped into it. */
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

/** The whole input, without the white space at its end. */
export async function readStandardInput(): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString().trimEnd()
}
