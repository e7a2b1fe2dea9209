/** Writes docs/README.md, the index of the documentation, from its sections. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { SECTIONS } from './sections.js'

export const DOCS = join(import.meta.dirname, '..')

/** Returns the first heading of a page of docs/, without marks for code. */
export function titleOf(page: string): string {
  const heading = /^# (.+)$/m.exec(readFileSync(join(DOCS, page), 'utf8'))
  if (!heading) throw new Error(`docs/${page} needs a heading of the first level.`)
  return heading[1]!.replaceAll('`', '')
}

export function indexPage(): string {
  const sections = SECTIONS.map(({ title, about, pages }) => {
    const lines = Object.entries(pages).map(([page, line]) => `- [${titleOf(page)}](${page}): ${line}`)
    return `## ${title}\n\n${about}\n\n${lines.join('\n')}\n`
  })
  return `# Documentation

The pages are in five sections. Your service has the same pages, with a search, at \`/docs\` of its admin listener.

${sections.join('\n')}`
}
