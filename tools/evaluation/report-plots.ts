/** Figures of a report, as SVG that takes its colors from the page. */
import * as Plot from '@observablehq/plot'
import { parseHTML } from 'linkedom'
import type { Evaluation } from './evaluation.js'
import { nominal } from './format.js'
import type { Figures } from './report-html.js'

const SIZE = { width: 720, height: 400, marginLeft: 64, marginBottom: 48, marginRight: 24, marginTop: 28 }
const COLOURS = { genuine: 'var(--genuine)', impostor: 'var(--impostor)', threshold: 'var(--accent)' }

/** The figures of a report by name; null where there are too few pairs to draw one. */
export function plots(evaluation: Evaluation): Figures {
  return { det: detPlot(evaluation), scores: scoresPlot(evaluation), discards: discardsPlot(evaluation) }
}

/** Null if there are too few pairs for a line. */
function detPlot({ det, configured }: Evaluation): string | null {
  // A logarithmic axis has no zero.
  const points = det.filter(({ fmr, fnmr }) => fmr > 0 && fnmr > 0)
  if (points.length < 2) return null
  const floor = Math.min(...points.map(({ fnmr }) => fnmr)) / 2
  const here = configured.measured_fmr > 0 && configured.measured_fnmr > 0 ? [configured] : []
  const lowest = Math.min(configured.fmr, ...points.map(({ fmr }) => fmr))
  return draw({
    ariaLabel: 'DET curve: FNMR over FMR',
    x: {
      type: 'log',
      label: 'False match rate',
      ticks: decades(lowest, 1),
      tickFormat: nominal,
      grid: true,
      domain: [lowest, 1],
    },
    y: {
      type: 'log',
      label: 'False non-match rate',
      ticks: decades(floor, 1),
      tickFormat: nominal,
      grid: true,
      domain: [floor, 1],
    },
    marks: [
      Plot.areaY(points, {
        x: 'fmr',
        y1: ({ fnmr_ci95: [low] }) => Math.max(low, floor),
        y2: ({ fnmr_ci95: [, high] }) => high,
        fill: COLOURS.genuine,
        fillOpacity: 0.18,
      }),
      Plot.lineY(points, { x: 'fmr', y: 'fnmr', stroke: COLOURS.genuine, strokeWidth: 2 }),
      Plot.ruleX([configured.fmr], { stroke: 'currentColor', strokeDasharray: '4 3' }),
      Plot.text([`asked for: ${nominal(configured.fmr)}`], {
        x: configured.fmr,
        frameAnchor: 'bottom',
        textAnchor: 'start',
        dx: 6,
        dy: -6,
        fill: 'currentColor',
      }),
      Plot.link(here, {
        x1: ({ measured_fmr_ci95: [low] }) => Math.max(low, lowest),
        x2: ({ measured_fmr_ci95: [, high] }) => high,
        y: 'measured_fnmr',
        stroke: COLOURS.threshold,
        strokeWidth: 2,
      }),
      Plot.dot(here, { x: 'measured_fmr', y: 'measured_fnmr', r: 5, fill: COLOURS.threshold }),
      Plot.text(here, {
        x: 'measured_fmr',
        y: 'measured_fnmr',
        text: () => 'threshold in use',
        textAnchor: 'start',
        dx: 9,
        dy: -11,
        fill: COLOURS.threshold,
        fontWeight: 'bold',
      }),
    ],
  })
}

/** Null if nothing was compared. */
function scoresPlot({ histogram, configured }: Evaluation): string | null {
  const { from, to, genuine, impostor } = histogram
  if (!(to > from)) return null
  const width = (to - from) / genuine.length
  const bars = (kind: 'genuine' | 'impostor', counts: readonly number[]) => {
    const total = counts.reduce((sum, n) => sum + n, 0)
    return counts.flatMap((n, bin) =>
      n === 0 ? [] : [{ kind, from: from + bin * width, to: from + (bin + 1) * width, share: n / total }],
    )
  }
  const all = [...bars('impostor', impostor), ...bars('genuine', genuine)]
  const floor = Math.min(...all.map(({ share }) => share)) / 2
  return draw({
    ariaLabel: 'Distributions of genuine and impostor scores',
    x: { label: 'Score', domain: [from, to] },
    y: {
      type: 'log',
      label: 'Share of pairs',
      ticks: decades(floor, 1),
      tickFormat: nominal,
      grid: true,
      domain: [floor, 1],
    },
    marks: [
      Plot.rectY(all, {
        x1: 'from',
        x2: 'to',
        y1: floor,
        y2: 'share',
        fill: ({ kind }) => COLOURS[kind as 'genuine' | 'impostor'],
        fillOpacity: 0.55,
        insetLeft: 0.5,
      }),
      Plot.ruleX([configured.threshold], { stroke: COLOURS.threshold, strokeWidth: 2 }),
      Plot.text([`threshold ${configured.threshold.toFixed(4)}`], {
        x: configured.threshold,
        frameAnchor: 'top',
        textAnchor: 'start',
        dx: 6,
        dy: 4,
        fill: COLOURS.threshold,
        fontWeight: 'bold',
      }),
    ],
  })
}

const PANELS_A_ROW = 4

/** A small panel for each component; null without misses. */
function discardsPlot({ by_quality_component: { curves } }: Evaluation): string | null {
  const panels = curves
    .filter(({ points }) => points[0]!.misses > 0)
    .map(({ component, points }, i) => ({
      component,
      points,
      place: { fx: i % PANELS_A_ROW, fy: Math.floor(i / PANELS_A_ROW) },
    }))
  if (panels.length === 0) return null
  const points = panels.flatMap(({ points, place }) =>
    points.map(({ discarded, fnmr, fnmr_ci95: [low, high] }) => ({ discarded, fnmr, low, high, ...place })),
  )
  const facets = { fx: 'fx', fy: 'fy' }
  return draw({
    ariaLabel: 'FNMR over the share of pairs discarded, for each quality component',
    height: 60 + 140 * Math.ceil(panels.length / PANELS_A_ROW),
    fx: { axis: null, padding: 0.12 },
    fy: { axis: null, padding: 0.25 },
    x: { label: 'Discarded', ticks: [0, 0.1, 0.2, 0.3], tickFormat: nominal },
    y: { label: 'False non-match rate', ticks: 4, tickFormat: nominal, grid: true, zero: true },
    marks: [
      Plot.areaY(points, {
        x: 'discarded',
        y1: 'low',
        y2: 'high',
        ...facets,
        fill: COLOURS.genuine,
        fillOpacity: 0.18,
      }),
      Plot.lineY(points, { x: 'discarded', y: 'fnmr', ...facets, stroke: COLOURS.genuine, strokeWidth: 2 }),
      Plot.text(
        panels.map(({ component, place }) => ({ component, ...place })),
        {
          text: 'component',
          ...facets,
          frameAnchor: 'top',
          dy: -12,
          fill: 'currentColor',
          fontWeight: 'bold',
        },
      ),
    ],
  })
}

function draw(options: Plot.PlotOptions): string {
  const { document } = parseHTML('<html><body></body></html>')
  const figure = Plot.plot({
    ...SIZE,
    document: document as unknown as NonNullable<Plot.PlotOptions['document']>,
    style: { fontSize: '12px', background: 'none', color: 'inherit' },
    ...options,
  })
  return figure.outerHTML
}

/** Powers of ten within the range. */
function decades(low: number, high: number): number[] {
  const [from, to] = [Math.ceil(Math.log10(low)), Math.floor(Math.log10(high))]
  return Array.from({ length: to - from + 1 }, (_, i) => 10 ** (from + i))
}
