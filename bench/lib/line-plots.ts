/** Draws series over time as SVG, one plot below the other, with their own background for light and dark pages. */
import * as Plot from '@observablehq/plot'
import { parseHTML } from 'linkedom'

export interface LinePlot {
  title: string
  unit: string
  /** Logarithmic axis, for values of different orders of magnitude, all above zero. */
  isLogarithmic?: true
  /** Values over time; null leaves a gap. */
  points: Array<{ minute: number; series: string; value: number | null }>
}

const SIZE = { width: 760, height: 240, marginLeft: 56, marginRight: 20, marginTop: 30, marginBottom: 36 }
const HEADING_HEIGHT = 30

/** @param name text alternative of the picture */
export function drawLinePlots(name: string, plots: readonly LinePlot[]): string {
  const height = SIZE.height + HEADING_HEIGHT
  const parts = plots.map(({ title, unit, points, isLogarithmic }, i) => {
    const { document } = parseHTML('<!doctype html><html><body></body></html>')
    const names = [...new Set(points.map(({ series }) => series))]
    const svg = Plot.plot({
      document: document as unknown as NonNullable<Plot.PlotOptions['document']>,
      ...SIZE,
      style: { fontSize: '12px' },
      x: { label: 'Minutes', grid: true },
      y: { label: unit, grid: true, ...(isLogarithmic ? { type: 'log' } : { zero: true }) },
      color: { domain: names, scheme: 'Tableau10' },
      marks: [Plot.lineY(points, { x: 'minute', y: 'value', stroke: 'series', strokeWidth: 1.8 })],
    })
    svg.setAttribute('y', String(i * height + HEADING_HEIGHT))
    // Names stand above the plot: next to the lines' ends they would overlap where the lines do.
    const colour = svg.scale('color')!
    const legend = names.map((series) => `<tspan fill="${colour.apply(series)}" dx="12">— ${series}</tspan>`)
    const y = i * height + 22
    const heading = [
      `<text x="16" y="${y}" font-weight="bold" font-size="14">${title}, ${unit}</text>`,
      `<text x="${SIZE.width - SIZE.marginRight}" y="${y}" text-anchor="end" font-size="12" font-weight="bold">${legend.join('')}</text>`,
    ].join('\n')
    return `${heading}\n${svg.outerHTML}`
  })
  const whole = plots.length * height
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${SIZE.width} ${whole}" width="${SIZE.width}" height="${whole}" role="img" aria-label="${name}" font-family="system-ui, sans-serif" fill="#1f2933" color="#1f2933">`,
    `<rect width="${SIZE.width}" height="${whole}" fill="#ffffff"/>`,
    ...parts,
    '</svg>',
    '',
  ].join('\n')
}
