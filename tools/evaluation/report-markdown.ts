/** Writes a report as Markdown, for a repository or a ticket, without figures. */
import type { ReportContent, ReportTable } from './report-parts.js'

export function markdownReport({ title, subtitle, verdict, keyFigures, sections }: ReportContent): string {
  const blocks = [
    `# ${plain(title)}`,
    plain(subtitle),
    `**${plain(verdict.text)}**`,
    keyFigures
      .map(({ name, value, detail }) => `- ${plain(name)}: **${plain(value)}** (${plain(detail)})`)
      .join('\n'),
    ...sections
      // Sections that only have a figure are left to the HTML page.
      .filter(({ figure, tables }) => !figure || tables)
      .flatMap(({ title: heading, paragraphs = [], tables = [], list }) => [
        `## ${plain(heading)}`,
        ...paragraphs.map(plain),
        ...tables.map(table),
        ...(list ? [list.map((text) => `- ${plain(text)}`).join('\n')] : []),
      ]),
  ]
  return `${blocks.join('\n\n')}\n`
}

function table({ caption, columns, rows }: ReportTable): string {
  const line = (cells: readonly string[]) => `| ${cells.map(plain).join(' | ')} |`
  const aligned = columns.map((name, column) => (column === 0 || name === '' ? '---' : '---:'))
  return [
    ...(caption ? [`${plain(caption)}:`, ''] : []),
    line(columns),
    line(aligned),
    ...rows.map(line),
  ].join('\n')
}

/** Escapes labels: they come from people, and must not become a table or a link. */
function plain(text: string): string {
  return text.replaceAll(/[\\`*_[\]<>|]/g, '\\$&').replaceAll('\n', ' ')
}
