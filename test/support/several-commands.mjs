/** Runs several command lines of one installation in one process, one after the other: most of a short command's time is its start. */
import { pathToFileURL } from 'node:url'

/** Stands behind the exit code of each command, in both streams; no command prints it. */
const END = '\u001e'

const [main, lines] = process.argv.slice(2)
const { runProgram } = await import(new URL('program.js', pathToFileURL(main)).href)
for (const line of JSON.parse(lines)) {
  process.exitCode = 0
  await runProgram(line)
  for (const stream of [process.stdout, process.stderr]) stream.write(`${process.exitCode}${END}`)
}
process.exitCode = 0
