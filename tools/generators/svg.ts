/** Writes drawings as SVG: cards, groups, arrows and wrapped text, in the colors of a light and a dark page. */
import { escapeHtml } from '../../src/lib/escape-html.js'

const LIGHT = {
  page: '#ffffff',
  text: '#1b2230',
  muted: '#4c566b',
  line: '#6b7488',
  tones: {
    plain: { fill: '#f5f6fa', stroke: '#b4bbcb' },
    accent: { fill: '#eeefff', stroke: '#6366f1' },
    lost: { fill: '#fdeeee', stroke: '#cc5050' },
    partly: { fill: '#fff6df', stroke: '#b98214' },
    good: { fill: '#e8f6ed', stroke: '#3b9359' },
  },
}
const DARK: typeof LIGHT = {
  page: '#0e1117',
  text: '#e8ebf2',
  muted: '#a9b3c4',
  line: '#8a94a8',
  tones: {
    plain: { fill: '#171c26', stroke: '#4a5468' },
    accent: { fill: '#1e1f42', stroke: '#8f8bff' },
    lost: { fill: '#351c1f', stroke: '#d97373' },
    partly: { fill: '#32290f', stroke: '#c99a3a' },
    good: { fill: '#142c1e', stroke: '#57b27b' },
  },
}

/** The kinds of cards. The reader sees them as colors, so the text has to say the same. */
export type Tone = keyof typeof LIGHT.tones

const SANS = "system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif"
const MONO = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace"
const SIZE = 14
const LINE = 19
/** Distance of text from the edge of its card. */
const PADDING = 12
const HEAD = 7
const DASHES = ' stroke-dasharray="5 4"'
/** Space between text and the edge of the drawing. */
export const MARGIN = 20

/** A piece of text. A name is one of the source, such as a stage or a table. */
type Kind = 'text' | 'muted' | 'title' | 'name'

export interface Area {
  x: number
  y: number
  width: number
  height: number
}

interface CardContent {
  title: string
  /** Name of the source, written in full at the right end of the title's line. */
  name?: string
  note?: string
  /** The holder of a key. */
  holder?: string
  tone?: Tone
  isDashed?: boolean
  /** Height of the card, where that is more than its text needs. */
  height?: number
}

export type Point = readonly [x: number, y: number]

export const middleOf = ({ x, width }: Area) => Math.round(x + width / 2)
export const centerOf = ({ y, height }: Area) => Math.round(y + height / 2)
export const rightOf = ({ x, width }: Area) => x + width
export const bottomOf = ({ y, height }: Area) => y + height

export class Svg {
  private readonly shapes: string[] = []
  private bottom = 0

  /** @param description read to a person who cannot see the drawing */
  constructor(
    private readonly width: number,
    private readonly description: string,
  ) {}

  /** A card whose text begins at its upper left corner. @throws Error where a word is wider than the card */
  card(x: number, y: number, width: number, content: CardContent): Area {
    const { title, name, note, holder, tone = 'plain', isDashed = false } = content
    const room = width - 2 * PADDING
    const titleRoom = room - (name ? widthOf(name, 'name') + PADDING : 0)
    const lines = [
      ...linesOf(title, titleRoom, 'title'),
      ...linesOf(note, room, 'muted'),
      ...linesOf(holder && `Held by ${holder}`, room, 'text'),
    ]
    const height = Math.max(content.height ?? 0, lines.length * LINE + 2 * PADDING - 4)
    const area = this.frame({ x, y, width, height }, tone, isDashed)
    if (name) this.text(rightOf(area) - PADDING, y + PADDING + 11, name, 'name', 'end')
    lines.forEach(([kind, text], index) => {
      this.text(x + PADDING, y + PADDING + 11 + index * LINE, text, kind)
    })
    return area
  }

  /** A frame without text. */
  frame(area: Area, tone: Tone, isDashed = false): Area {
    const { fill, stroke } = LIGHT.tones[tone]
    const { x, y, width, height } = area
    this.shapes.push(
      `<rect class="${tone}" x="${x}" y="${y}" width="${width}" height="${height}" rx="8" fill="${fill}" stroke="${stroke}" stroke-width="1.5"${isDashed ? DASHES : ''}/>`,
    )
    this.bottom = Math.max(this.bottom, bottomOf(area))
    return area
  }

  /** One line of text. @param y of its base line */
  text(x: number, y: number, text: string, kind: Kind = 'text', anchor: 'start' | 'end' = 'start'): void {
    const extent = widthOf(text, kind)
    const left = anchor === 'start' ? x : x - extent
    if (left < 4 || left + extent > this.width - 4)
      throw new Error(`"${text}" does not fit into the drawing: make its place wider, or the text shorter`)
    const color = kind === 'muted' ? LIGHT.muted : LIGHT.text
    const font = kind === 'name' ? ` font-family="${escapeHtml(MONO)}" font-size="13"` : ''
    const weight = kind === 'title' ? ' font-weight="600"' : ''
    const from = anchor === 'start' ? '' : ` text-anchor="${anchor}"`
    this.shapes.push(
      `<text class="${kind}" x="${x}" y="${y}" fill="${color}"${font}${weight}${from}>${escapeHtml(text)}</text>`,
    )
    this.bottom = Math.max(this.bottom, y + 6)
  }

  /** Wrapped lines of text. @param y of the first base line */
  paragraph(x: number, y: number, width: number, text: string, kind: Kind = 'muted'): void {
    for (const [index, line] of wrapped(text, width, kind).entries())
      this.text(x, y + index * LINE, line, kind)
  }

  /** A line through the points, with its head at the last one. Its last piece is level or upright. */
  arrow(...points: Point[]): void {
    this.drawArrow(points, '')
  }

  dashedArrow(...points: Point[]): void {
    this.drawArrow(points, DASHES)
  }

  private drawArrow(points: readonly Point[], dashes: string): void {
    const [x, y] = points.at(-1)!
    const [fromX, fromY] = points.at(-2)!
    const [dx, dy] = [Math.sign(x - fromX), Math.sign(y - fromY)]
    const path = [...points.slice(0, -1), [x - dx * HEAD, y - dy * HEAD] as Point]
    this.shapes.push(
      `<path class="line" d="M${path.map((point) => point.join(' ')).join(' L')}" fill="none" stroke="${LIGHT.line}" stroke-width="1.5"${dashes}/>`,
      `<path class="head" d="M${x} ${y} L${x - dx * HEAD - dy * 4} ${y - dy * HEAD - dx * 4} L${x - dx * HEAD + dy * 4} ${y - dy * HEAD + dx * 4} Z" fill="${LIGHT.line}"/>`,
    )
  }

  /**
   * The whole drawing. Colors of a light page are attributes, which no content policy forbids; a style for dark pages replaces them. The drawing
   * brings its own ground, so that it can be read where page and system disagree.
   */
  toString(): string {
    const height = this.bottom + MARGIN
    const label = escapeHtml(this.description)
    return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${this.width} ${height}" width="${this.width}" height="${height}" role="img" aria-label="${label}" font-family="${escapeHtml(SANS)}" font-size="${SIZE}">
<title>${label}</title>
<style>
@media (prefers-color-scheme: dark) {
${darkRules().join('\n')}
}
</style>
<rect class="page" width="${this.width}" height="${height}" rx="10" fill="${LIGHT.page}"/>
${this.shapes.join('\n')}
</svg>
`
  }
}

/** Names of the source that a drawing shows. */
export function namesIn(svg: string): string[] {
  return [...svg.matchAll(/<text class="name"[^>]*>([^<]*)</g)].map(([, text]) => text!)
}

function darkRules(): string[] {
  const { page, text, muted, line, tones } = DARK
  return [
    `.page { fill: ${page} }`,
    `.text, .title, .name { fill: ${text} }`,
    `.muted { fill: ${muted} }`,
    `.line { stroke: ${line} }`,
    `.head { fill: ${line} }`,
    ...Object.entries(tones).map(
      ([tone, { fill, stroke }]) => `.${tone} { fill: ${fill}; stroke: ${stroke} }`,
    ),
  ]
}

function linesOf(text: string | undefined, width: number, kind: Kind): Array<[kind: Kind, text: string]> {
  return text ? wrapped(text, width, kind).map((line) => [kind, line]) : []
}

/** Number of lines that a note takes. */
export function linesNeeded(note: string, width: number): number {
  return wrapped(note, width, 'muted').length
}

/** @throws Error where a word is wider than the line */
function wrapped(text: string, width: number, kind: Kind): string[] {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const longer = lines.length > 0 ? `${lines.at(-1)} ${word}` : word
    if (widthOf(word, kind) > width) throw new Error(`"${word}" is wider than its card in the drawing`)
    if (lines.length > 0 && widthOf(longer, kind) <= width) lines[lines.length - 1] = longer
    else lines.push(word)
  }
  return lines
}

/** About as wide as the widest of the usual fonts writes it. */
export function widthOf(text: string, kind: Kind): number {
  if (kind === 'name') return text.length * 8
  const units = [...text].reduce((sum, sign) => {
    if (/[iljI.,:;'|!()]/.test(sign)) return sum + 0.36
    if (/[mwMW@]/.test(sign)) return sum + 0.92
    return sum + (/[A-Z]/.test(sign) ? 0.7 : /[\sfrt]/.test(sign) ? 0.4 : 0.61)
  }, 0)
  return Math.ceil(units * SIZE * (kind === 'title' ? 1.08 : 0.98))
}
