/** Every picture that a page shows is there, and every picture in docs/images is on a page. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { describe, expect, it } from 'vitest'
import { packageFile } from '../src/lib/package-root.js'
import { fileOf, SCREENSHOTS } from '../tools/generators/screenshots/screenshots.js'
import { linkingPages } from './support/page-links.js'
import { FENCE } from './support/plain-prose.js'

const MARKDOWN_PICTURE = /!\[([^\]]*)\]\((?!\w+:)([^)\s]+)\)/g
const PICTURE = /<picture>([\s\S]*?)<\/picture>/g
const LARGEST_BYTES = 150_000

const pages = linkingPages().map((page) => {
  const text = readFileSync(packageFile(...page.split('/')), 'utf8').replace(FENCE, '')
  const shown = [
    ...[...text.matchAll(MARKDOWN_PICTURE)].map(([, , path]) => path!),
    ...[...text.matchAll(/\b(?:src|srcset)="(?!\w+:)([^"]+)"/g)].map(([, path]) => path!),
  ]
  return { page, text, files: shown.map((path) => relative(packageFile(), packageFile(dirname(page), path))) }
})
const files = readdirSync(packageFile('docs', 'images'))
const isScreenshot = (name: string) => !name.endsWith('.svg')

describe('the pictures of the pages', () => {
  it('are all there', () => {
    const missing = pages.flatMap(({ page, files }) =>
      files.filter((file) => !existsSync(packageFile(file))).map((file) => `${page}: ${file}`),
    )
    expect(pages.flatMap(({ files }) => files).length).toBeGreaterThan(8)
    expect(missing).toEqual([])
  })

  it('are all that docs/images has', () => {
    const shown = new Set(pages.flatMap(({ files }) => files))
    expect(files.filter((name) => !shown.has(join('docs', 'images', name)))).toEqual([])
  })

  it('say in words what they show', () => {
    const pictures = pages.flatMap(({ text }) => text.match(/!\[[^\]]*\]\([^)]*\)|<img\b[^>]*>/g) ?? [])
    expect(pictures.filter((one) => !/!\[[^\]]{20,}\]|\balt="[^"]{20,}"/.test(one))).toEqual([])
  })
})

describe('the pictures of a running service', () => {
  it('are those that npm run screenshots takes, at most eight', () => {
    const taken = SCREENSHOTS.flatMap(({ name }) => [fileOf(name, 'dark'), fileOf(name, 'light')])
    expect(files.filter(isScreenshot).sort()).toEqual(taken.sort())
    expect(taken.length).toBeLessThanOrEqual(8)
  })

  it.each(files.filter(isScreenshot))('has less than 150 kB in %s', (name) => {
    expect(statSync(packageFile('docs', 'images', name)).size).toBeLessThan(LARGEST_BYTES)
  })

  it('stand on a page in light and dark', () => {
    const shown = pages.flatMap(({ text }) => [...text.matchAll(PICTURE)].map(([, inside]) => inside!))
    expect(shown).toHaveLength(SCREENSHOTS.length)
    for (const inside of shown) {
      const [, dark] = /<source media="\(prefers-color-scheme: dark\)" srcset="([^"]+)-dark\.webp">/.exec(
        inside,
      )!
      expect(inside).toContain(`<img src="${dark}-light.webp" alt="`)
    }
  })
})
