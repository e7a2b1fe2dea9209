/**
 * Runs a PostgreSQL until stdin ends, which it does however the process at its other end went, and leaves nothing behind. A process
 * of its own, because one that is killed can stop nobody.
 */
import { spawn } from 'node:child_process'
import { rmSync } from 'node:fs'

const { folder, user, command } = JSON.parse(process.argv[2])
const [program, ...args] = command
const server = spawn(program, args, { ...user, cwd: folder, stdio: ['ignore', 'inherit', 'inherit'] })

// At once: nobody wants the data.
const stop = () => server.kill('SIGQUIT')
process.stdin.resume().on('end', stop)
process.on('SIGTERM', stop)
server.on('exit', () => {
  rmSync(folder, { recursive: true, force: true })
  process.exit()
})
