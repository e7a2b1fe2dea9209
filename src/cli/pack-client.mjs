/** Makes the package `countersign-client` out of the build: the SDK with jose alone, in dist/client-package. */
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = new URL('../../', import.meta.url)
const built = new URL('dist/src/client/', root)
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
  sideEffects: false,
  exports: {
    ...Object.fromEntries(
      Object.entries(ENTRIES).map(([path, file]) => [
        path,
        { types: `./lib/${file}.d.ts`, default: `./lib/${file}.js` },
      ]),
    ),
    './package.json': './package.json',
  },
  dependencies: { jose: dependencies.jose },
  peerDependencies: ofFrameworks(peerDependencies),
  peerDependenciesMeta: ofFrameworks(peerDependenciesMeta),
}

rmSync(target, { recursive: true, force: true })
mkdirSync(new URL('lib/', target), { recursive: true })
for (const name of readdirSync(built).filter((file) => /\.(js|d\.ts)$/.test(file))) {
  // The maps stay behind: they lead to sources that the package does not have.
  const code = readFileSync(new URL(name, built), 'utf8').replace(/^\/\/# sourceMappingURL=.*\n?/m, '')
  writeFileSync(new URL(`lib/${name}`, target), code)
}
cpSync(new URL('LICENSE', root), new URL('LICENSE', target))
cpSync(new URL('src/client/README.md', root), new URL('README.md', target))
writeFileSync(new URL('package.json', target), `${JSON.stringify(manifest, null, 2)}\n`)
console.log(fileURLToPath(target))
