/** Reads the declarations that the SDK is published with: signatures and comments as an editor shows them. Files are named from the root. */
import { readFileSync } from 'node:fs'
import { packageFile } from '../../src/lib/package-root.js'

/** The parts of a documentation comment. */
export interface Comment {
  /** The text with parameters, the result and errors. */
  description: string
  /** The text, or where there is none the result, without parameters and errors. */
  summary: string
  /** Code of the first `@example`; empty without one. */
  example: string
}

export interface Member extends Comment {
  name: string
  /** The declaration on one line. */
  declaration: string
}

/** A declaration that a module exports. */
export interface Export extends Comment {
  name: string
  kind: 'function' | 'const' | 'class' | 'interface' | 'type'
  /** The declaration without its comment, as it stands in the file. */
  text: string
  /** Declaration file, without `.d.ts`. */
  file: string
}

const textOf = (file: string) => readFileSync(packageFile('dist', `${file}.d.ts`), 'utf8')

function readComment(comment = ''): Comment {
  const text = comment.replace(/^\s*\* ?/gm, '')
  const [, example = ''] = /@example\n([\s\S]*?)(?=\n@|$(?![\s\S]))/m.exec(text) ?? []
  const [before = '', ...tags] = text.split(/^ *@|\s@(?=throws|param|returns)/m)
  const of = (tag: string) =>
    tags.filter((one) => one.startsWith(`${tag} `)).map((one) => one.slice(tag.length + 1))
  const clean = (one: string) => one.replace(/\s+/g, ' ').trim().replace(/\.$/, '')
  const thrown = of('throws').map(clean)
  const described = before.replace(/\s+/g, ' ').trim()
  const returned = of('returns').map((one) => `Returns ${clean(one)}.`)
  const throwing = thrown.length > 0 ? [`Throws ${thrown.join('; ')}.`] : []
  const parameters = of('param').map((one) => clean(one).replace(/^(\w+) /, '`$1`: '))
  const given = parameters.length > 0 ? [`Parameters: ${parameters.join('; ')}.`] : []
  const description = [described, ...returned, ...given, ...throwing].filter(Boolean).join(' ')
  return { description, summary: described || returned.join(' '), example: example.trimEnd() }
}

/** The public members of an interface or a class. @param file without `.d.ts` @throws Error where there is no such type */
export function membersOf(file: string, type: string): Member[] {
  const body = new RegExp(
    `^(?:export )?(?:declare (?:abstract )?class|interface) ${type}\\b[^\\n]*\\{\\n([\\s\\S]*?)^\\}`,
    'm',
  ).exec(textOf(file))?.[1]
  if (body === undefined) throw new Error(`${file}.d.ts declares no ${type}; build first: npm run build`)
  const members: Member[] = []
  // A comment, and a declaration that ends with a semicolon at the indentation of members.
  for (const [, comment, declared] of body.matchAll(
    /^ {4}(?:\/\*\*([\s\S]*?)\*\/\n {4})?(\S[\s\S]*?;)$(?=\n {4}[^\s}]|\n$|$(?![\s\S]))/gm,
  )) {
    const declaration = declared!.replace(/\s+/g, ' ').replace(/;$/, '')
    const name = /^(?:abstract )?(?:readonly |get )?([\w$]+)/.exec(declaration)?.[1]
    if (!name || name === 'constructor' || /^(#|private )/.test(declaration)) continue
    const { description, summary, example } = readComment(comment)
    // Overloads share a comment.
    const earlier = members.find((member) => member.name === name)
    members.push({
      name,
      declaration,
      description: description || (earlier?.description ?? ''),
      summary: summary || (earlier?.summary ?? ''),
      example: example || (earlier?.example ?? ''),
    })
  }
  return members
}

/** The first line of a declaration that a file keeps to itself, such as a base class; undefined where there is none. */
export function hiddenBase(file: string, name: string): string | undefined {
  return new RegExp(`^(?:declare (?:abstract )?class|interface) ${name}\\b.*`, 'm').exec(textOf(file))?.[0]
}

/** Everything that a module exports, from the files in which it is declared. @param entry declaration file without `.d.ts` */
export function exportsOf(entry: string): Export[] {
  const source = textOf(entry)
  const found = declarationsOf(entry)
  for (const [, names, from] of source.matchAll(/^export (?:type )?(\*|\{[^}]*\}) from '([^']+)\.js';$/gm)) {
    const all = exportsOf(fileFrom(entry, from!))
    const wanted = names === '*' ? null : new Set(names!.match(/[\w$]+(?=[ ,}])/g))
    found.push(...all.filter(({ name }) => wanted === null || wanted.has(name)))
  }
  return found
}

function fileFrom(entry: string, from: string): string {
  const folder = entry.includes('/') ? entry.replace(/[^/]*$/, '') : ''
  return new URL(from, `file:///${folder}`).pathname.slice(1)
}

function declarationsOf(file: string): Export[] {
  const found: Export[] = []
  const pattern =
    /^(?:\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\n)?(export (?:declare )?(?:abstract )?(function|const|class|interface|type) (\w+)[\s\S]*?;?)$(?=\n(?:\/\*\*|export |declare |interface |type |import )|\n?$(?![\s\S]))/gm
  for (const [, comment, text, kind, name] of textOf(file).matchAll(pattern))
    found.push({ name: name!, kind: kind as Export['kind'], text: text!, file, ...readComment(comment) })
  return found
}
