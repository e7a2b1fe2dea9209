/** Draws bar charts as SVG, one below the other, with their own background for light and dark pages. */

export interface Bar {
  label: string
  value: number
  /** True for the contender that ours is compared with: it is drawn paler. */
  pale?: boolean
}

export interface BarChart {
  title: string
  unit: string
  bars: Bar[]
}

const WIDTH = 760
const MARGIN = 20
const LABEL_WIDTH = 230
const VALUE_WIDTH = 110
const TITLE_HEIGHT = 40
const BAR_HEIGHT = 16
const ROW_HEIGHT = 22
const COLOURS = { background: '#ffffff', text: '#1f2933', bar: '#2364aa', pale: '#a9c4e4' } as const

/** @param name text alternative of the picture */
export function drawCharts(name: string, charts: readonly BarChart[]): string {
  const parts: string[] = []
  let top = MARGIN / 2
  for (const { title, unit, bars } of charts) {
    parts.push(text(MARGIN, top + TITLE_HEIGHT - 14, `${title}, ${unit}`, 'font-weight="bold"'))
    top += TITLE_HEIGHT
    // Bars begin at zero: their lengths are in the ratio of the values.
    const longest = Math.max(...bars.map(({ value }) => value), Number.MIN_VALUE)
    for (const { label, value, pale } of bars) {
      const length = (value / longest) * (WIDTH - 2 * MARGIN - LABEL_WIDTH - VALUE_WIDTH)
      const left = MARGIN + LABEL_WIDTH
      const baseline = top + BAR_HEIGHT - 4
      parts.push(
        text(left - 8, baseline, label, 'text-anchor="end"'),
        `<rect x="${left}" y="${top}" width="${length.toFixed(1)}" height="${BAR_HEIGHT}" fill="${pale ? COLOURS.pale : COLOURS.bar}"/>`,
        text(left + length + 6, baseline, threeDigits(value)),
      )
      top += ROW_HEIGHT
    }
  }
  const height = top + MARGIN / 2
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-label="${escapeXml(name)}" font-family="system-ui, sans-serif" font-size="12" fill="${COLOURS.text}">`,
    `<rect width="${WIDTH}" height="${height}" fill="${COLOURS.background}"/>`,
    ...parts,
    '</svg>',
    '',
  ].join('\n')
}

function text(x: number, y: number, content: string, attributes = ''): string {
  return `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" ${attributes}>${escapeXml(content)}</text>`
}

function escapeXml(content: string): string {
  const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
  return content.replace(/[&<>"]/g, (character) => entities[character]!)
}

/** Formats three significant digits, and every digit before the point. */
function threeDigits(value: number): string {
  const whole = Math.max(1, Math.floor(Math.log10(Math.abs(value) || 1)) + 1)
  return value.toFixed(Math.max(0, 3 - whole))
}
