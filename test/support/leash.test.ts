/** A test that is killed leaves no process behind. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import { pathToFileURL } from 'node:url'
import { expect, it } from 'vitest'
import { packageFile } from '../../src/lib/package-root.js'
import { childrenOf, isAlive } from './process-tree.js'

/** Starts a service as campaigns and tests do, and says which process it is; it does not end without help. */
const TEST = `
  const { Installation } = await import(process.argv[1])
  const installation = await Installation.create()
  const { pid } = await installation.serve()
  console.log(JSON.stringify({ pid, dataDir: installation.dataDir }))
  setInterval(() => {}, 1000)
`

it.skipIf(process.platform !== 'linux')(
  'the service that a test started, and its engine, end when the test is killed',
  async () => {
    const installation = pathToFileURL(packageFile('dist', 'test', 'faults', 'installation.js')).href
    const test = spawn(process.execPath, ['--input-type=module', '-e', TEST, installation], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const [line] = await once(test.stdout.setEncoding('utf8'), 'data')
    const { pid, dataDir } = JSON.parse(line)
    try {
      const family = [pid, ...childrenOf(pid)]
      expect(family.length).toBeGreaterThan(1)
      test.kill('SIGKILL')
      await expect.poll(() => family.filter(isAlive)).toEqual([])
    } finally {
      test.kill('SIGKILL')
      await rm(dataDir, { recursive: true, force: true })
    }
  },
)
