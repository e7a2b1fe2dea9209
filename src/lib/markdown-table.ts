/** Writes tables in Markdown. */

/** A row: a bar would end a cell, and `<` outside code would begin a tag. */
function row(cells: readonly string[]): string {
  const escaped = cells.map((cell) =>
    cell
      .split('`')
      .map((part, index) => (index % 2 === 0 ? part.replaceAll('<', '\\<') : part))
      .join('`')
      .replaceAll('|', '\\|'),
  )
  return `| ${escaped.join(' | ')} |`
}

/** A table under its head. Cells may hold Markdown except for tags. */
export function markdownTable(head: readonly string[], rows: ReadonlyArray<readonly string[]>): string {
  return [row(head), row(head.map(() => '---')), ...rows.map(row)].join('\n')
}
