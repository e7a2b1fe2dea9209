/** Adapts the Markdown of the repository to the site: links, anchors, and styles that the content policy allows. */
import { existsSync, statSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import type { ShikiTransformer } from 'shiki'
import type { MarkdownRenderer } from 'vitepress'
import { DOCS } from './index-page.js'

/** Files of docs/ that a page links to and that are no pages themselves, by their path inside docs/. The build copies them. */
export const linkedFiles = new Set<string>()

/** Address of the API reference below /docs. It stands in for the OpenAPI document. */
export const API_REFERENCE = '/api'

type Token = ReturnType<MarkdownRenderer['parse']>[number]

/** Keeps double braces in code: no page is a template. */
export function keepBraces(md: MarkdownRenderer): void {
  md.core.ruler.push('keep-braces', ({ tokens }) => {
    for (const { children } of tokens)
      for (const token of children ?? []) if (token.type === 'code_inline') token.attrSet('v-pre', '')
  })
}

/** Gives the rows of a table of codes or variables the anchor of what they explain, so that an error can point at its row. */
export function anchorRows(md: MarkdownRenderer): void {
  md.core.ruler.push('anchor-rows', ({ tokens }) => {
    let isAnchored = false
    for (const [at, { type }] of tokens.entries()) {
      if (type === 'thead_open') isAnchored = /^(Code|Variable)$/.test(tokens[at + 3]!.content)
      const cell = type === 'tr_open' && isAnchored ? tokens[at + 2]!.children : null
      if (cell?.length === 1 && cell[0]!.type === 'code_inline') tokens[at]!.attrSet('id', cell[0]!.content)
    }
  })
}

/** Pages of codes or variables, with what follows the name in the items that explain one. */
const EXPLAINING: Record<string, RegExp> = {
  'errors.md': /^ \(\d/,
  'operator-errors.md': /^[:,]/,
  'configuration.md': /^(?::| \()/,
}

/** Gives the items of the lists of codes and variables the anchors of what they explain; an item that explains several codes has one at each. */
export function anchorItems(md: MarkdownRenderer): void {
  md.core.ruler.push('anchor-items', ({ tokens, env }) => {
    const follows = EXPLAINING[relative(DOCS, env.path)]
    if (!follows) return
    for (const [at, item] of tokens.entries()) {
      if (item.type !== 'list_item_open') continue
      const [name, text, ...rest] = tokens[at + 2]?.children ?? []
      if (name?.type !== 'code_inline' || !follows.test(text?.content ?? '')) continue
      item.attrSet('id', name.content)
      let before = text!.content
      for (const token of rest) {
        if (before === ', ' && token.type === 'code_inline') token.attrSet('id', token.content)
        else if (token.type !== 'text') break
        before = token.content
        if (token.type === 'text' && before !== ', ') break
      }
    }
  })
}

/** Makes an empty heading of a table a plain cell, because a screen reader would read a heading without a name. */
export function dropEmptyHeadings(md: MarkdownRenderer): void {
  md.core.ruler.push('drop-empty-headings', ({ tokens }) => {
    for (const [at, { type }] of tokens.entries())
      if (type === 'th_open' && tokens[at + 1]!.content === '') tokens[at]!.tag = tokens[at + 2]!.tag = 'td'
  })
}

/** Aligns the cells of a table by a class, because the content policy allows no style attributes. */
export function alignByClass(md: MarkdownRenderer): void {
  md.core.ruler.push('align-by-class', ({ tokens }) => {
    for (const token of tokens) {
      const align = token.attrGet('style')?.match(/^text-align:(\w+)$/)?.[1]
      if (!align) continue
      token.attrs = token.attrs!.filter(([name]) => name !== 'style')
      token.attrJoin('class', `align-${align}`)
    }
  })
}

/**
 * Keeps links to pages, sends links to other files of docs/ to their copies, and turns links that leave docs/ into plain text:
 * the site has neither sources nor a repository host to point at.
 */
export function resolveLinks(md: MarkdownRenderer): void {
  md.core.ruler.push('resolve-links', ({ tokens, env }) => {
    for (const { children } of tokens) {
      let isPlain = false
      for (const token of children ?? []) {
        if (token.type === 'link_open') isPlain = !resolveLink(token, env.path)
        if (isPlain && token.type.startsWith('link_')) dropTag(token)
      }
    }
  })
}

/** Whether the link leads somewhere in the site. */
function resolveLink(token: Token, page: string): boolean {
  const href = token.attrGet('href')!
  if (/^([a-z]+:|#)/.test(href)) return true
  const [path] = href.split('#') as [string]
  const target = relative(DOCS, join(dirname(page), decodeURI(path))).replaceAll('\\', '/')
  if (target.startsWith('..')) return false
  const isFile = existsSync(join(DOCS, target)) && statSync(join(DOCS, target)).isFile()
  if (!isFile) return false
  if (target.endsWith('.md')) {
    // A README is the index of its folder here.
    token.attrSet('href', href.replace(/README\.md(?=#|$)/, 'index.md'))
    return true
  }
  token.attrSet('target', '_self')
  if (target === 'openapi.json') token.attrSet('href', API_REFERENCE)
  else {
    linkedFiles.add(target)
    token.attrSet('href', `/${target}`)
  }
  return true
}

function dropTag(token: Token): void {
  token.type = 'text'
  token.tag = ''
  token.nesting = 0
  token.content = ''
}

/** Colors code by classes, because the content policy allows no style attributes. */
export const colorByClass: ShikiTransformer = {
  name: 'color-by-class',
  span(node) {
    const { style } = node.properties
    const kind = /--shiki-token-([a-z-]+)/.exec(String(style))?.[1]
    delete node.properties.style
    if (kind) node.properties.class = `code-${kind}`
  },
  pre(node) {
    delete node.properties.style
  },
}
