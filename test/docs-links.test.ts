/** Every relative link of the pages leads to a file, and every anchor to a heading. */
import { describe, expect, it } from 'vitest'
import { anchorsIn, brokenLinksOf, linkingPages, linksIn } from './support/page-links.js'

describe('the pages', () => {
  it('have no link that leads nowhere', () => {
    const pages = linkingPages()
    expect(pages).toEqual(
      expect.arrayContaining(['CHANGELOG.md', 'README.md', 'docs/guides/capture.md', 'docs/operations.md']),
    )
    expect(pages.flatMap(brokenLinksOf)).toEqual([])
  })
})

describe('links', () => {
  it.each([
    ['a link', '[a](b.md#c)', ['b.md#c']],
    ['an image', '![a](b.png)', ['b.png']],
    ['a link in a table', '| [a](#c) | b |', ['#c']],
    ['a link around code', '[`a`](b.md)', ['b.md']],
    ['an address of the web', '[a](https://example.com/b.md)', []],
    ['an address of the running service', '[a](/docs/errors)', []],
    ['a link in inline code', '`[a](b.md)`', []],
    ['a link in a block of code', '```\n[a](b.md)\n```\n', []],
  ])('are found in %s', (_name, text, links) => {
    expect(linksIn(text)).toEqual(links)
  })
})

describe('anchors', () => {
  it.each([
    ['a heading', '# The master key', ['the-master-key']],
    ['a heading with code and signs', '## `pack.json`: what, and why?', ['packjson-what-and-why']],
    ['a heading with a link', '## See [the *log*](a.md#b)', ['see-the-log']],
    ['headings that repeat', '# A\n## A\n### A', ['a', 'a-1', 'a-2']],
    ['an element with an id', 'text <a id="old"></a> text', ['old']],
    ['a comment of a shell in a block of code', '```sh\n# A\n```\n', []],
  ])('are made of %s', (_name, text, anchors) => {
    expect([...anchorsIn(text)]).toEqual(anchors)
  })
})
