/** `npm run release-notes`: both packages as they are published, and their notes. */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import { packageFile } from '../../src/lib/package-root.js'
import { VERSION } from '../../src/lib/version.js'
import { temporaryFolder } from '../support/temporary-folder.js'

const folder = temporaryFolder()
const make = (name: string) =>
  execFileSync(
    process.execPath,
    [packageFile('scripts', 'release-notes.mjs'), '--draft', '--out', join(folder, name)],
    { encoding: 'utf8' },
  )
const file = (name: string) => readFileSync(join(folder, 'once', name))
const PACKAGES = [`countersign-${VERSION}.tgz`, `countersign-client-${VERSION}.tgz`]
let notes: string

beforeAll(() => {
  notes = make('once')
}, 120_000)

it('name the SHA-512 and the files of both packages, as the statement does', () => {
  expect(readdirSync(join(folder, 'once')).sort()).toEqual([...PACKAGES, 'provenance.json'].sort())
  const { subject, predicate } = JSON.parse(file('provenance.json').toString())
  for (const [i, name] of PACKAGES.entries()) {
    const sum = (encoding: 'base64' | 'hex') => createHash('sha512').update(file(name)).digest(encoding)
    expect(notes).toContain(`### ${name}\n\n${file(name).length} bytes, \`sha512-${sum('base64')}\``)
    expect(subject[i]).toEqual({ name, digest: { sha512: sum('hex') } })
    const packed = execFileSync('tar', ['-tzf', join(folder, 'once', name)], { encoding: 'utf8' })
    const listed = notes.slice(notes.indexOf(`### ${name}`)).split('### ')[1]!
    const paths = [...listed.matchAll(/^- `(.+)` \(\d+\)$/gm)].map(([, path]) => `package/${path}`)
    expect(paths.sort()).toEqual(packed.trim().split('\n').sort())
  }
  const [source] = predicate.buildDefinition.resolvedDependencies
  expect(notes).toContain(`Made of commit ${source.digest.gitCommit}`)
})

it('begin with everything that the changelog asks an operator to do', () => {
  const unreleased = readFileSync(packageFile('CHANGELOG.md'), 'utf8').split(/^## /m)[1]!
  const asked = unreleased.match(/\bTo do\b/g)!.length
  const said = notes.slice(notes.indexOf('## To do'), notes.indexOf('## Changes'))
  expect(said.match(/^- To do/gm)).toHaveLength(asked)
})

it('have the same checksums when they are made again', () => {
  const sums = (text: string) => text.match(/sha512-\S+/g)
  expect(sums(make('again'))).toEqual(sums(notes))
}, 120_000)
