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
  const line = (label: string, colour: string, draw: Series['draw'], counts: Record<string, number>) => ({
    label,
    colour,
    draw,
    values: percents(counts),
  })
  return {
    x: Array.from({ length: BINS }, (_, bin) => (bin + 0.5) / BINS),
    series: [
      line('Month before', '--chart-1', 'line', month[measure]),
      line('7 days', '--chart-2', 'line', windows.week[measure]),
      // Drawn last and in dashes, so that a line below it stays visible.
      line('Latest', '--chart-3', 'dashes', windows.latest[measure]),
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
  const line = (
    label: string,
    colour: string,
    draw: Series['draw'],
    of: (day: DriftDay) => number | null,
  ) => ({
    label,
    colour,
    draw,
    values: days.map((day) => {
      const value = of(day)
      return value === null ? null : percent(value)
    }),
  })
  return {
    x: days.map(({ day }) => Date.parse(day) / 1000),
    means: [
      line('Quality', '--chart-1', 'line', ({ quality }) => quality),
      line('Score', '--chart-2', 'line', ({ score }) => score),
      line('Failed', '--chart-bad', 'dashes', ({ failed }) => failed),
    ],
  }
}

function percent(share: number): number {
  return Number((100 * share).toFixed(1))
}
