/** Converts counted verifies into the series of the charts. */
import type { DriftDay, DriftView } from '../../features/insight/drift/drift-view.js'
import type { Series } from './base/chart.js'

/** Bins of a chart: four of those that are counted are one, so that the lines of a few hundred verifies are legible. */
const JOINED = 4
const COUNTED_BINS = 100
const BINS = COUNTED_BINS / JOINED

export interface Distribution {
  x: number[]
  series: Series[]
}

/** Shares of the verifies in percent, by score or by quality. */
export function shares({ month, windows }: DriftView, measure: 'scores' | 'quality'): Distribution {
  return {
    x: Array.from({ length: BINS }, (_, bin) => (bin + 0.5) / BINS),
    series: [
      { label: 'Month before', colour: '--chart-1', draw: 'line', values: percents(month[measure]) },
      { label: '7 days', colour: '--chart-2', draw: 'line', values: percents(windows.week[measure]) },
      // Drawn last and in dashes, so that a line below it stays visible.
      { label: 'Latest', colour: '--chart-3', draw: 'dashes', values: percents(windows.latest[measure]) },
    ],
  }
}

function percents(counts: Record<string, number>): Array<number | null> {
  const joined = new Array<number>(BINS).fill(0)
  for (const [bin, count] of Object.entries(counts)) joined[Math.floor(Number(bin) / JOINED)]! += count
  const total = joined.reduce((sum, count) => sum + count, 0)
  return joined.map((count) => (total === 0 ? null : percent(count / total)))
}

/** Means of quality and score, and the share of failed verifies, in percent. */
export function byDay(days: readonly DriftDay[]): { x: number[]; means: Series[] } {
  const valuesOf = (name: 'quality' | 'score' | 'failed') =>
    days.map((day) => (day[name] === null ? null : percent(day[name])))
  return {
    x: days.map(({ day }) => Date.parse(day) / 1000),
    means: [
      { label: 'Quality', colour: '--chart-1', draw: 'line', values: valuesOf('quality') },
      { label: 'Score', colour: '--chart-2', draw: 'line', values: valuesOf('score') },
      { label: 'Failed', colour: '--chart-bad', draw: 'dashes', values: valuesOf('failed') },
    ],
  }
}

function percent(share: number): number {
  return Number((100 * share).toFixed(1))
}
