/** The SDK runs wherever fetch does: it uses no types and modules of Node, and only jose from npm. */
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { packageFile } from '../../src/lib/package-root.js'

const files = ['clients/node', 'src/contract'].flatMap((room) =>
  readdirSync(packageFile(room), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => ({
      name: `${room}/${name}`,
      text: readFileSync(packageFile(room, name), 'utf8'),
    })),
)

/** @param path inside the repository */
const isInside = (path: string) => /^(clients\/node|src\/contract)\//.test(path)

it('imports jose, itself and the contract; an adapter only the types of its framework', () => {
  const foreign = files.flatMap(({ name, text }) =>
    [...text.matchAll(/^(?:import|export)(?<type> type)?[^']* from '(?<from>[^']+)'/gm)]
      .map(({ groups }) => groups!)
      .filter(({ from }) => !from!.startsWith('.') || !isInside(join(name, '..', from!)))
      .map(({ type, from }) => `${name}:${type ?? ''} ${from}`),
  )
  expect(foreign.sort()).toEqual([
    'clients/node/countersign.ts: jose',
    'clients/node/express.ts: type express',
    'clients/node/fastify.ts: type fastify',
    'clients/node/hono.ts: type hono',
    'clients/node/public-keys.ts: jose',
    // The sentences of guidance lie in the folder that pages serve as it is.
    'clients/node/testing/refusals.ts: ../../capture/guidance-texts.js',
    'clients/node/testing/verdicts.ts: jose',
    'clients/node/verdict-token.ts: jose',
    'clients/node/verdict.ts: jose',
  ])
})

it('compiles with only the types of the Web', () => {
  const compile = (entry: string) =>
    spawnSync(
      packageFile('node_modules', '.bin', 'tsc'),
      [
        ...['--noEmit', '--strict', '--skipLibCheck', '--ignoreConfig', '--types', ''],
        ...['--target', 'ES2023', '--lib', 'ES2024,DOM,DOM.Iterable', '--module', 'NodeNext'],
        packageFile(entry),
      ],
      { encoding: 'utf8' },
    )
  expect(compile('clients/node/index.ts').stdout).toBe('')
  expect(compile('clients/node/testing.ts').stdout).toBe('')
  // The same check sees Node's own names.
  expect(compile('src/lib/version.ts').stdout).toContain("'node:fs'")
})
