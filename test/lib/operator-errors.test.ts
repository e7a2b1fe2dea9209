/** The next steps in errors for operators: each leads to a page that exists. test/documented-commands.test.ts parses their commands. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { OPERATOR_ERRORS } from '../../src/lib/operator-errors.js'
import { packageFile } from '../../src/lib/package-root.js'

/** The anchors of a page's headings, as GitHub and most generators of sites make them. */
function anchorsOf(page: string): Set<string> {
  const headings = readFileSync(packageFile('docs', page), 'utf8').matchAll(/^#{1,6} (.+)$/gm)
  return new Set(
    [...headings].map(([, text]) =>
      text!
        .toLowerCase()
        .replace(/[^\p{L}\p{N}\s_-]/gu, '')
        .trim()
        .replace(/\s/g, '-'),
    ),
  )
}

/** @param place such as `operations/tenants.md#tenants` */
function expectPlace(place: string): void {
  const [page, anchor] = place.split('#') as [string, string?]
  expect(existsSync(packageFile('docs', page)), place).toBe(true)
  if (anchor !== undefined) expect(anchorsOf(page), place).toContain(anchor)
}

describe('an error for operators', () => {
  it('leads to a page and a section of the documentation that exist', () => {
    for (const { page } of Object.values(OPERATOR_ERRORS)) expectPlace(page)
  })

  it('has a next step in whole sentences', () => {
    for (const [code, { remedy }] of Object.entries(OPERATOR_ERRORS))
      expect(remedy, code).toMatch(/^[A-Z`-].*[.…]$/s)
  })
})

describe('a path of the documentation in a message', () => {
  it('leads to a page and a section that exist', () => {
    const files = readdirSync(packageFile('src'), { recursive: true, encoding: 'utf8' })
    const sources = files.filter((name) => name.endsWith('.ts'))
    const places = sources.flatMap((name) =>
      [...readFileSync(packageFile('src', name), 'utf8').matchAll(/docPath\(([^)]*\.md[^)]*)\)/g)].flatMap(
        ([, argument]) => [...argument!.matchAll(/'([^']+)'/g)].map(([, place]) => place!),
      ),
    )
    expect(places.length).toBeGreaterThan(10)
    for (const place of places) expectPlace(place)
  })
})
