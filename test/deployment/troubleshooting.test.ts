/** docs/troubleshooting.md quotes the service word for word, and the links of the pages for operators lead somewhere. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { packageFile } from '../../src/lib/package-root.js'

const PAGES = [
  'troubleshooting.md',
  'reverse-proxies.md',
  'upgrade-policy.md',
  'operations/runbooks.md',
  'guides/kubernetes.md',
  'guides/air-gapped.md',
].map((name) => packageFile('docs', ...name.split('/')))

/** Words of Node, Kubernetes and proxies; the service's source does not hold them. */
const WORDS_OF_OTHERS = ['fetch failed', 'ECONNRESET', 'EACCES', 'msg']

const sources = ['src', 'clients/node', 'models', 'tools']
  .flatMap((folder) =>
    readdirSync(packageFile(folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.tsx?$/.test(name))
      .map((name) => readFileSync(packageFile(folder, name), 'utf8')),
  )
  .join('\n')

/** Finds the code in the first cell of each row, and in the second where the first names a check of `doctor`. */
function quotesIn(page: string): string[] {
  const rows = page.split('\n').filter((line) => line.startsWith('| ') && !line.startsWith('| ---'))
  return rows.flatMap((row) => {
    const [first = '', second = ''] = row.slice(2).split(' | ')
    const seen = page.indexOf(row) > page.indexOf('## What doctor finds') ? `${first} ${second}` : first
    return [...seen.matchAll(/`([^`]+)`/g)].map(([, quote]) => quote!)
  })
}

/** The name that GitHub gives to a heading. */
const anchorOf = (heading: string) =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_\- ]/gu, '')
    .replaceAll(' ', '-')

const withoutCode = (page: string) => page.replaceAll(/^ *```[\s\S]*?^ *```$/gm, '')
const anchorsOf = (file: string) =>
  [...withoutCode(readFileSync(file, 'utf8')).matchAll(/^#+ (.*)$/gm)].map(([, heading]) =>
    anchorOf(heading!),
  )

it('docs/troubleshooting.md quotes only what the service, its commands and the SDK say', () => {
  const quotes = quotesIn(readFileSync(PAGES[0]!, 'utf8')).filter((quote) => !WORDS_OF_OTHERS.includes(quote))
  expect(quotes.length).toBeGreaterThan(40)
  const parts = quotes.flatMap((quote) => quote.split('…').map((part) => part.trim()))
  expect(parts.filter((part) => !sources.includes(part))).toEqual([])
})

describe('the pages for operators', () => {
  it.each(PAGES.map((page) => [page.slice(packageFile().length + 1), page]))(
    '%s links to headings that are there',
    (_name, page) => {
      const links = [...withoutCode(readFileSync(page, 'utf8')).matchAll(/\]\((?!https?:)([^)\s]*)\)/g)]
      const lost = links.filter(([, link]) => {
        const [path, anchor] = link!.split('#')
        const file = path ? resolve(dirname(page), path) : page
        return !existsSync(file) || (anchor !== undefined && !anchorsOf(file).includes(anchor))
      })
      expect(lost.map(([, link]) => link)).toEqual([])
    },
  )
})
