/** The drawings in docs/images are made from the source, and each is on its page. UPDATE_DOCS=1 writes them. */
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { describe, expect, it } from 'vitest'
import { tablesOf } from '../src/features/index.js'
import { packageFile } from '../src/lib/package-root.js'
import { tablesWith } from '../src/storage/endings.js'
import { STAGES } from '../src/verification/stages.js'
import { documentInDocs } from '../tools/generators/docs.js'
import { DRAWINGS } from '../tools/generators/drawings.js'
import { namesIn } from '../tools/generators/svg.js'

const drawn = (file: string) => readFileSync(packageFile('docs', 'images', file), 'utf8')
const sorted = (names: readonly string[]) => [...names].sort()

describe.each(DRAWINGS)('the drawing $file', ({ file, page, alt, names, svg }) => {
  it('is the drawing that the source makes', () => {
    expect(documentInDocs(`images/${file}`, svg())).toBe(svg())
  })

  it('has every name of the source once, and no other but a call', () => {
    const found = namesIn(drawn(file)).filter((name) => !/^[A-Z]+ \//.test(name))
    expect(names.length).toBeGreaterThan(3)
    expect(sorted(found)).toEqual(sorted(names))
  })

  it('is on its page, with its text and a caption of one line', () => {
    const text = readFileSync(packageFile('docs', page), 'utf8')
    const path = relative(dirname(page), join('images', file))
    const [, after = ''] = text.split(`![${alt}](${path})\n`)
    expect(after).toMatch(/^\n\*[^\n]+\*\n\n/)
  })

  it('is light and dark, loads nothing, and says in words what it shows', () => {
    const text = drawn(file)
    expect(text).toContain('@media (prefers-color-scheme: dark)')
    expect(text).toContain(`<title>${alt}</title>`)
    expect(text.replace('xmlns="http://www.w3.org/2000/svg"', '')).not.toMatch(
      /https?:|<script|<image|href=|url\(/,
    )
  })
})

describe('the drawings', () => {
  it('are all in docs/images, with no other', () => {
    const files = readdirSync(packageFile('docs', 'images')).filter((name) => name.endsWith('.svg'))
    expect(files.sort()).toEqual(sorted(DRAWINGS.map(({ file }) => file)))
  })

  it('show every stage and every table', () => {
    expect(namesIn(drawn('verification-way.svg'))).toEqual(expect.arrayContaining([...STAGES]))
    expect(namesIn(drawn('erasure.svg'))).toEqual(
      expect.arrayContaining(tablesWith(tablesOf()).map(({ name }) => name)),
    )
  })

  it('have the stages in the order in which a request passes through them', () => {
    const found = namesIn(drawn('verification-way.svg'))
    expect(found.filter((name) => STAGES.some((stage) => stage === name))).toEqual([...STAGES])
  })
})
