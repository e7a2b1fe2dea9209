/** `npm run bench` as a process. */
import { CommanderError } from 'commander'
import { benchCommand } from './command.js'

const WRONG_USAGE = 2

try {
  await benchCommand.parseAsync()
} catch (error) {
  if (!(error instanceof CommanderError)) throw error
  // Commander throws for --help too, with exit code 0.
  process.exitCode = error.exitCode === 0 ? 0 : WRONG_USAGE
}
