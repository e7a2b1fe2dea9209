/**
 * `npm run release-notes`: packs both packages and prints notes of a release: what changed, what an operator does, and which files it
 * consists of. The packages and their provenance go to dist/release, or to --out; the notes to stdout.
 */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const root = fileURLToPath(new URL('../', import.meta.url))
const { values } = parseArgs({
  options: { out: { type: 'string', default: join(root, 'dist', 'release') }, draft: { type: 'boolean' } },
})
const folder = resolve(values.out)
const run = (program, args, cwd = root) =>
  execFileSync(program, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()

function refuse(reason) {
  console.error(`error: ${reason}`)
  process.exit(1)
}

const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const heading = values.draft ? 'Unreleased' : version
const section = readFileSync(join(root, 'CHANGELOG.md'), 'utf8')
  .split(/^## /m)
  .find((text) => text.startsWith(`${heading}\n`))
if (!section) refuse(`CHANGELOG.md has no section ${heading}.`)
const commit = run('git', ['rev-parse', 'HEAD'])
// The packages would differ from the commit that the tag names.
if (!values.draft && run('git', ['status', '--porcelain'])) refuse('The checkout differs from its commit.')

const changes = section.slice(section.indexOf('\n')).trim()
/** Each entry is one line: what changed, and what there is to do. */
const toDo = changes
  .split('\n')
  .filter((line) => line.startsWith('- ') && line.includes('To do'))
  .map((line) => `- ${line.slice(line.indexOf('To do'))} (${line.slice(2, line.indexOf(' To do'))})`)

rmSync(folder, { recursive: true, force: true })
mkdirSync(folder, { recursive: true })
const client = run(process.execPath, [join(root, 'scripts', 'pack-client.mjs')])
const report = JSON.parse(
  run('npm', ['pack', root, client, '--json', '--ignore-scripts', '--pack-destination', folder]),
)
// npm 12 reports by package name, earlier ones as a list.
const packages = Object.values(report).map(({ name, filename, files }) => {
  const bytes = readFileSync(join(folder, filename))
  const sha512 = createHash('sha512').update(bytes)
  return { name, filename, size: bytes.length, files, digest: sha512.digest('hex') }
})

/** An in-toto statement with a SLSA predicate, which the person who releases signs. */
const provenance = {
  _type: 'https://in-toto.io/Statement/v1',
  subject: packages.map(({ filename, digest }) => ({ name: filename, digest: { sha512: digest } })),
  predicateType: 'https://slsa.dev/provenance/v1',
  predicate: {
    buildDefinition: {
      buildType: 'https://docs.npmjs.com/cli/commands/npm-pack',
      externalParameters: { command: 'npm run release-notes', version },
      internalParameters: { node: process.version, npm: run('npm', ['--version']) },
      resolvedDependencies: [{ name: 'source', digest: { gitCommit: commit } }],
    },
    runDetails: { builder: { id: 'urn:countersign:release-notes' } },
  },
}
writeFileSync(join(folder, 'provenance.json'), `${JSON.stringify(provenance, null, 2)}\n`)

const integrity = ({ digest }) => `sha512-${Buffer.from(digest, 'hex').toString('base64')}`
console.log(
  [
    `# Countersign ${values.draft ? `${version}, draft of the next` : version}`,
    '',
    '## To do',
    '',
    ...(toDo.length > 0 ? toDo : ['Nothing beyond the steps of every upgrade.']),
    '',
    '## Changes',
    '',
    changes,
    '',
    '## Packages',
    '',
    `Made of commit ${commit}, with Node ${process.version}.`,
    ...packages.flatMap((each) => [
      '',
      `### ${each.filename}`,
      '',
      `${each.size} bytes, \`${integrity(each)}\`, ${each.files.length} files:`,
      '',
      ...each.files.map(({ path, size }) => `- \`${path}\` (${size})`),
    ]),
  ].join('\n'),
)
