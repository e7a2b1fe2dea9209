/** Draws the threads' work as SVG: a row for each thread, from left to right the milliseconds of one call. */
import * as Plot from '@observablehq/plot'
import { parseHTML } from 'linkedom'

export interface Span {
  thread: string
  name: string
  /** Milliseconds since the call's first byte. */
  fromMs: number
  toMs: number
  /** True for work that the caller would have to wait for in any case. */
  isComputing: boolean
}

const SIZE = { width: 900, marginLeft: 96, marginRight: 16, marginTop: 34, marginBottom: 36 }
const ROW_HEIGHT = 74
const COLOURS = { computing: '#2364aa', other: '#f2a541', none: '#e8ecf0' }

/** Shorter spans have their number only in the table: the picture has no room for it. */
const MIN_LABELLED_SHARE = 0.02

/** A function, because the name of a field that does not exist would draw nothing, without an error. */
const threadOf = ({ thread }: Span) => thread

/** @param spans in order of time */
export function drawTimeline(title: string, spans: readonly Span[]): string {
  const wholeMs = Math.max(...spans.map(({ toMs }) => toMs))
  const { document } = parseHTML('<!doctype html><html><body></body></html>')
  const threads = [...new Set(spans.map(({ thread }) => thread))]
  const bars = spans.map((span, i) => ({ ...span, number: i + 1, middle: (span.fromMs + span.toMs) / 2 }))
  const labelled = bars.filter(({ fromMs, toMs }) => toMs - fromMs > MIN_LABELLED_SHARE * wholeMs)
  const height = threads.length * ROW_HEIGHT + SIZE.marginTop + SIZE.marginBottom
  const svg = Plot.plot({
    document: document as unknown as NonNullable<Plot.PlotOptions['document']>,
    ...SIZE,
    height,
    style: { fontSize: '12px' },
    x: { label: 'Milliseconds since the first byte was sent', grid: true, domain: [0, wholeMs] },
    y: { label: null, domain: threads },
    marks: [
      Plot.barX(threads, {
        x1: 0,
        x2: wholeMs,
        y: (thread: string) => thread,
        fill: COLOURS.none,
        insetTop: 26,
      }),
      Plot.barX(bars, {
        x1: 'fromMs',
        x2: 'toMs',
        y: threadOf,
        insetTop: 26,
        fill: ({ isComputing }: Span) => (isComputing ? COLOURS.computing : COLOURS.other),
        stroke: '#ffffff',
        strokeWidth: 0.5,
      }),
      Plot.text(labelled, { x: 'middle', y: threadOf, text: 'number', dy: -18, fontSize: 11 }),
    ],
  })
  svg.setAttribute('y', '30')
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${SIZE.width} ${height + 30}" width="${SIZE.width}" height="${height + 30}" role="img" aria-label="${title}" font-family="system-ui, sans-serif" fill="#1f2933" color="#1f2933">`,
    `<rect width="${SIZE.width}" height="${height + 30}" fill="#ffffff"/>`,
    `<text x="16" y="22" font-weight="bold" font-size="14">${title}</text>`,
    `<text x="${SIZE.width - SIZE.marginRight}" y="22" text-anchor="end" font-size="12"><tspan fill="${COLOURS.computing}">■ computing</tspan><tspan fill="${COLOURS.other}" dx="12">■ everything else</tspan></text>`,
    svg.outerHTML,
    '</svg>',
    '',
  ].join('\n')
}
