/** The banks of the tutorials for Fastify, FastAPI and Next.js, over the sandbox, with the hosted capture page. */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { describe, it } from 'vitest'
import { packageFile } from '../../src/lib/package-root.js'
import { leash } from '../support/leash.js'
import { keepsToTheHostedPage } from './hosted-bank.js'

const example = (...path: string[]) => packageFile('docs', 'examples', ...path)

describe('the bank in Fastify', () =>
  keepsToTheHostedPage(async () => [process.execPath, ...leash(), example('fastify', 'server.mjs')]))

/** A Python with FastAPI: that of an activated virtual environment, or the first of the path. */
const python = [join(process.env.VIRTUAL_ENV ?? '', 'bin', 'python3'), 'python3'].find(
  (program) => spawnSync(program, ['-c', 'import fastapi, uvicorn']).status === 0,
)

describe('the bank in FastAPI', () => {
  // The checkout's package comes before an installed one.
  const start = 'import runpy, sys; sys.path.insert(0, sys.argv[2]); runpy.run_path(sys.argv[1])'
  const args = ['-c', start, example('fastapi', 'bank.py'), packageFile('clients', 'python')]
  if (python) keepsToTheHostedPage(async () => [python, ...args])
  else it.skip('carries a transfer out', () => {})
})

// Next.js is not installed here: its route handlers take and return web standards, so a server of Node can call them.
describe('the route handlers for Next.js', () =>
  keepsToTheHostedPage(async () => [
    process.execPath,
    ...leash(),
    packageFile('test', 'support', 'route-handlers.mjs'),
    example('nextjs', 'app'),
  ]))
