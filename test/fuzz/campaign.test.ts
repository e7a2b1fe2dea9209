import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { packageFile } from '../../src/lib/package-root.js'
import { readInputs } from './corpus.js'
import { TARGETS } from './targets.js'

const RUNS = 40_000

it('no input makes a reader fail, and what is new is learnt from', async () => {
  const main = packageFile('dist', 'test', 'fuzz', 'main.js')
  const { stdout } = await promisify(execFile)(process.execPath, [
    main,
    '--runs',
    String(RUNS),
    '--seed',
    '7',
  ])
  const [told, result] = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(result).toEqual({ inputs: RUNS, crashes: 0 })
  for (const { name } of TARGETS)
    expect(told.targets[name].corpus, name).toBeGreaterThan(readInputs('corpus', name).length)
}, 300_000)
