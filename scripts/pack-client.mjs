/**
 * Makes the package `countersign-client` from the build, in dist/client-package: the SDK and what it uses of the contract, whose only
 * dependency is jose, and the capture component as one file for browsers.
 */
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'vite'

const root = new URL('../', import.meta.url)
const built = new URL('dist/', root)
const builtCapture = new URL('clients/capture/', built)
const target = new URL('dist/client-package/', root)

const { version, license, engines, dependencies, peerDependencies, peerDependenciesMeta, exports } =
  JSON.parse(readFileSync(new URL('package.json', root), 'utf8'))
/** The modules of the SDK, by the path from which each is imported. */
const entries = Object.entries(exports)
  .filter(([path]) => path.startsWith('./client'))
  .map(([path, file]) => [path.replace(/^\.\/client/, '.'), file.default.replace(/^\.\/dist\/|\.js$/g, '')])
const manifest = {
  name: 'countersign-client',
  version,
  description:
    'The SDK of Countersign: biometric step-up verification, with verdicts checked where they are used.',
  license,
  type: 'module',
  engines,
  // The import of the component registers its element, so a bundler must not drop it as unused.
  sideEffects: ['./lib/capture/capture.js'],
  exports: {
    ...Object.fromEntries(
      entries.map(([path, file]) => [path, { types: `./lib/${file}.d.ts`, default: `./lib/${file}.js` }]),
    ),
    './capture': { types: './lib/clients/capture/capture.d.ts', default: './lib/capture/capture.js' },
    './passkey': { types: './lib/passkey.d.ts', default: './lib/passkey.js' },
    './package.json': './package.json',
  },
  dependencies: { jose: dependencies.jose },
  peerDependencies,
  peerDependenciesMeta,
}

rmSync(target, { recursive: true, force: true })
mkdirSync(new URL('lib/capture/', target), { recursive: true })
// The code is packed without comments: editors show those of the type declarations.
const tsc = fileURLToPath(new URL('node_modules/typescript/bin/tsc', root))
execFileSync(process.execPath, [tsc, '-p', fileURLToPath(new URL('clients/node', root))], {
  stdio: ['ignore', 2, 2],
})
copyTypes(
  built,
  entries.map(([, file]) => file),
  'lib/',
)
copyTypes(built, ['clients/capture/capture'], 'lib/')
copyTypes(builtCapture, ['passkey'], 'lib/')
// The compiler indents by four spaces. Indented by tabs and with longer lines, the package is 18 kB smaller.
const biome = fileURLToPath(new URL('node_modules/.bin/biome', root))
const formatting = ['format', '--write', '--vcs-enabled=false', '--indent-style=tab', '--line-width=140']
execFileSync(biome, [...formatting, fileURLToPath(new URL('lib/', target))], {
  stdio: ['ignore', 'ignore', 2],
})
// One file without imports can be copied where there is no bundler, and a browser loads it in one request.
await bundle('capture', 'lib/capture/')
await bundle('passkey', 'lib/')
cpSync(new URL('LICENSE', root), new URL('LICENSE', target))
cpSync(new URL('clients/node/README.md', root), new URL('README.md', target))
writeFileSync(new URL('package.json', target), `${JSON.stringify(manifest, null, 2)}\n`)
console.log(fileURLToPath(target))

/** Writes a module of the component as one file without imports. */
async function bundle(module, to) {
  await build({
    configFile: false,
    root: fileURLToPath(root),
    publicDir: false,
    logLevel: 'warn',
    build: {
      outDir: fileURLToPath(new URL(to, target)),
      emptyOutDir: false,
      target: 'es2022',
      modulePreload: false,
      rolldownOptions: {
        input: fileURLToPath(new URL(`${module}.js`, builtCapture)),
        preserveEntrySignatures: 'strict',
        output: { entryFileNames: `${module}.js` },
      },
    },
  })
}

/** Copies the declarations of the modules that can be imported, and of the modules that these import. */
function copyTypes(from, modules, to) {
  const reached = new Set(modules)
  // A loop over a set also visits members that are added during the loop.
  for (const module of reached) {
    const types = readFileSync(new URL(`${module}.d.ts`, from), 'utf8')
    for (const [, imported] of types.matchAll(/["']((?:\.\.?\/)+[\w/-]+)\.js["']/g))
      reached.add(posix.join(posix.dirname(module), imported))
    const file = new URL(`${to}${module}.d.ts`, target)
    mkdirSync(new URL('.', file), { recursive: true })
    writeFileSync(file, types)
  }
}
