/** CHANGELOG.md has the form of Keep a Changelog, with one line for each change. */
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { packageFile } from '../src/lib/package-root.js'

const KINDS = ['Added', 'Changed', 'Deprecated', 'Removed', 'Fixed', 'Security']
/** Longest line of an entry, links included. */
const MAX_CHARACTERS = 320

const lines = readFileSync(packageFile('CHANGELOG.md'), 'utf8').split('\n')
const versions = readFileSync(packageFile('CHANGELOG.md'), 'utf8').split(/^## /m).slice(1)

it('begins with what is not released, and then names versions', () => {
  const [first, ...others] = versions.map((text) => text.split('\n')[0]!)
  expect(first).toBe('Unreleased')
  for (const name of others) expect(name).toMatch(/^\d+\.\d+\.\d+(?: - \d{4}-\d{2}-\d{2})?$/)
})

it('sorts the changes of a version by kind, each kind at most once', () => {
  for (const version of versions) {
    const kinds = [...version.matchAll(/^### (.+)$/gm)].map(([, kind]) => kind!)
    expect(kinds).toEqual(KINDS.filter((kind) => kinds.includes(kind)))
    expect(version.slice(0, version.indexOf('\n### '))).not.toMatch(/^- /m)
  }
})

it('says each change in one line', () => {
  const entries = lines.filter((line) => line.startsWith('- '))
  const tooLong = entries.filter((line) => line.length > MAX_CHARACTERS)
  expect(tooLong, 'after a merge: take the version of main, and add your line under its kind').toEqual([])
  expect(entries.filter((line) => !line.endsWith('.'))).toEqual([])
  expect(lines.filter((line) => /^\s+\S/.test(line))).toEqual([])
})
