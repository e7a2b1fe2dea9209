/** Writes docs/README.md, the index of the documentation, from its sections. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { markdownTable } from '../../src/lib/markdown-table.js'
import { ROLES, SECTIONS } from './sections.js'

export const DOCS = join(import.meta.dirname, '..')

/** Returns the first heading of a page of docs/, without marks for code. */
export function titleOf(page: string): string {
  const heading = /^# (.+)$/m.exec(readFileSync(join(DOCS, page), 'utf8'))
  if (!heading) throw new Error(`docs/${page} needs a heading of the first level.`)
  return heading[1]!.replaceAll('`', '')
}

/** A column for each role, with the pages to read first. */
function roleTable(): string {
  const roles = Object.entries(ROLES)
  const links = roles.map(([, pages]) => pages.map((page) => `[${titleOf(page)}](${page})`))
  const rows = links[0]!.map((_, row) => links.map((column) => column[row]!))
  return markdownTable(
    roles.map(([role]) => role),
    rows,
  )
}

export function indexPage(): string {
  const sections = SECTIONS.map(({ title, about, pages }) => {
    const lines = Object.entries(pages).map(([page, line]) => `- [${titleOf(page)}](${page}): ${line}`)
    return `## ${title}\n\n${about}\n\n${lines.join('\n')}\n`
  })
  return `# Documentation

Start with the column that is yours. Your service has the same pages, with a search, at \`/docs\` of its admin listener.

${roleTable()}

${sections.join('\n')}`
}
