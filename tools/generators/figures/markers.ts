/** Puts figures into Markdown, between the comments `figures: NAME` and `/figures`. */

const MARKED = /<!-- figures: ([a-z0-9-]+) -->([\s\S]*?)<!-- \/figures -->/g
const OPENING = /<!-- figures: [a-z0-9-]+ -->/g
const CLOSING = '<!-- /figures -->'
/** A line that begins with a comment is HTML to its end, in which no Markdown counts: an inline figure breaks its paragraph there. */
const INLINE_AT_LINE_START = /^[ \t]*<!-- figures: ([a-z0-9-]+) -->(?=.)/m

/**
 * A marker that ends its line is followed by lines of its own (a table, a sentence), any other one by a figure inside
 * its line.
 * @param figures texts by name
 * @throws Error if a name is unknown or a marker does not fit
 */
export function withFigures(page: string, figures: Readonly<Record<string, string>>): string {
  if (
    page.match(OPENING)?.length !== [...page.matchAll(MARKED)].length ||
    page.split(CLOSING).length - 1 !== page.match(OPENING)?.length
  )
    throw new Error(`Each "figures: …" needs one "${CLOSING}" behind it.`)
  const [, broken] = INLINE_AT_LINE_START.exec(page) ?? []
  if (broken) throw new Error(`The figure ${broken} begins a line: put a word before it.`)
  return page.replace(MARKED, (_, name: string, shown: string) => {
    const text = figures[name]
    if (text === undefined)
      throw new Error(`There is no figure ${name}. There are: ${Object.keys(figures).sort().join(', ')}.`)
    const isBlock = shown.startsWith('\n')
    if (!isBlock && text.includes('\n'))
      throw new Error(`The figure ${name} has several lines: end the line behind its marker.`)
    return `<!-- figures: ${name} -->${isBlock ? `\n${text}\n` : text}${CLOSING}`
  })
}

export function hasFigures(page: string): boolean {
  return page.includes(CLOSING) || page.match(OPENING) !== null
}
