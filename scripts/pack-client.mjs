/**
 * Makes the package `countersign-client` out of the build, in dist/client-package: the SDK with jose alone, and the capture
 * component as one file for browsers.
 */
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { build } from 'vite'

const root = new URL('../', import.meta.url)
const built = new URL('dist/src/client/', root)
const builtCapture = new URL('dist/src/capture/', root)
const target = new URL('dist/client-package/', root)
const ENTRIES = {
  '.': 'index',
  './express': 'express',
  './fastify': 'fastify',
  './hono': 'hono',
  './testing': 'testing',
}
const FRAMEWORKS = ['express', 'fastify', 'hono']

const { version, license, engines, dependencies, peerDependencies, peerDependenciesMeta } = JSON.parse(
  readFileSync(new URL('package.json', root), 'utf8'),
)
const ofFrameworks = (all) => Object.fromEntries(FRAMEWORKS.map((name) => [name, all[name]]))
const manifest = {
  name: 'countersign-client',
  version,
  description:
    'The SDK of Countersign: biometric step-up verification, with verdicts checked where they are used.',
  license,
  type: 'module',
  engines,
  // The component registers its element; a bundler may drop nothing of it.
  sideEffects: ['./lib/capture/capture.js'],
  exports: {
    ...Object.fromEntries(
      Object.entries(ENTRIES).map(([path, file]) => [
        path,
        { types: `./lib/${file}.d.ts`, default: `./lib/${file}.js` },
      ]),
    ),
    './capture': { types: './lib/capture/capture.d.ts', default: './lib/capture/capture.js' },
    './package.json': './package.json',
  },
  dependencies: { jose: dependencies.jose },
  peerDependencies: ofFrameworks(peerDependencies),
  peerDependenciesMeta: ofFrameworks(peerDependenciesMeta),
}

rmSync(target, { recursive: true, force: true })
mkdirSync(new URL('lib/capture/', target), { recursive: true })
// Without comments: they stand in the types, where editors show them.
const tsc = fileURLToPath(new URL('node_modules/typescript/bin/tsc', root))
execFileSync(process.execPath, [tsc, '-p', fileURLToPath(new URL('src/client', root))], {
  stdio: ['ignore', 2, 2],
})
copyTypes(built, Object.values(ENTRIES), 'lib/')
copyTypes(builtCapture, ['capture'], 'lib/capture/')
// One file without an import: who has no bundler copies it, and a browser asks once.
await build({
  configFile: false,
  root: fileURLToPath(root),
  publicDir: false,
  logLevel: 'warn',
  build: {
    outDir: fileURLToPath(new URL('lib/capture/', target)),
    emptyOutDir: false,
    target: 'es2022',
    modulePreload: false,
    rolldownOptions: {
      input: fileURLToPath(new URL('capture.js', builtCapture)),
      preserveEntrySignatures: 'strict',
      output: { entryFileNames: 'capture.js' },
    },
  },
})
cpSync(new URL('LICENSE', root), new URL('LICENSE', target))
cpSync(new URL('src/client/README.md', root), new URL('README.md', target))
writeFileSync(new URL('package.json', target), `${JSON.stringify(manifest, null, 2)}\n`)
console.log(fileURLToPath(target))

/** Those of the modules that can be imported, and what they are made of. */
function copyTypes(from, modules, to) {
  const reached = new Set(modules)
  // A set gives also what is added while it is gone through.
  for (const module of reached) {
    const types = readFileSync(new URL(`${module}.d.ts`, from), 'utf8')
    for (const [, imported] of types.matchAll(/["']\.\/([\w-]+)\.js["']/g)) reached.add(imported)
    writeFileSync(new URL(`${to}${module}.d.ts`, target), types)
  }
}
