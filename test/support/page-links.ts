/** Reads the links of Markdown pages, and the anchors that they can lead to. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, relative, resolve } from 'node:path'
import { slugOf } from '../../docs/.vitepress/slug.js'
import { packageFile } from '../../src/lib/package-root.js'

const FENCE = /^ *(`{3,}|~{3,})[^\n]*\n(?:[\s\S]*?\n)??\s*\1 *$/gm
const INLINE_CODE = /(`+)(?!`)[\s\S]*?[^`]\1(?!`)/g
/** Link or image; neither an address of the web nor a path of the running service is relative. */
const LINK = /\]\((?!\w+:|\/)<?([^()\s<>]+)>?(?: "[^"]*")?\)/g

/** Paths of README, CHANGELOG, CONTRIBUTING, SECURITY, all pages of docs/ and the READMEs of the SDKs, inside the repository. */
export function linkingPages(): string[] {
  const clients = ['go', 'node', 'python']
  const docs = readdirSync(packageFile('docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md') && !name.includes('node_modules'))
    .map((name) => `docs/${name}`)
  const single = ['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md']
  return [...single, ...docs, ...clients.map((name) => `clients/${name}/README.md`)].sort()
}

/** Targets of the relative links of a text, such as `../operations.md#start-and-stop`. Code holds no links. */
export function linksIn(text: string): string[] {
  return [...text.replace(FENCE, '').replace(INLINE_CODE, 'Ø').matchAll(LINK)].map(([, target]) => target!)
}

/** Anchors of a text as repository hosts make them: one for each heading, numbered where it repeats, and each `<a id>`. */
export function anchorsIn(text: string): Set<string> {
  const anchors = new Set<string>()
  const prose = text.replace(FENCE, '')
  for (const [, heading] of prose.matchAll(/^#{1,6} (.+)$/gm)) {
    const slug = slugOf(heading!.replace(/\]\([^)]*\)/g, '').replace(/<[^>]*>/g, ''))
    let anchor = slug
    for (let repeat = 1; anchors.has(anchor); repeat++) anchor = `${slug}-${repeat}`
    anchors.add(anchor)
  }
  for (const [, id] of prose.matchAll(/<a id="([^"]+)">/g)) anchors.add(id!)
  return anchors
}

/** Links of a page that lead nowhere, each with what is missing. @param page path inside the repository */
export function brokenLinksOf(page: string): string[] {
  const file = packageFile(...page.split('/'))
  const text = readFileSync(file, 'utf8')
  return linksIn(text).flatMap((link) => {
    const [path, anchor] = link.split('#') as [string, string | undefined]
    const target = path === '' ? file : resolve(dirname(file), decodeURI(path))
    if (!existsSync(target)) return [`${page}: ${link} leads to no file`]
    if (relative(packageFile(), target).startsWith('..')) return [`${page}: ${link} leaves the repository`]
    if (anchor === undefined || !target.endsWith('.md') || !statSync(target).isFile()) return []
    const isThere = anchorsIn(readFileSync(target, 'utf8')).has(anchor)
    return isThere ? [] : [`${page}: ${link} leads to no heading`]
  })
}
