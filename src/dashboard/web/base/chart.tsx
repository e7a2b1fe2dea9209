/** A uPlot chart that adapts to the size of its box and the colors of the theme. */
import { useEffect, useRef, useState } from 'preact/hooks'
import uPlot from 'uplot'
import { Empty } from './parts.js'
import { Table } from './table.js'
import { useTheme } from './theme.js'
import { shownZone, useShownZone } from './times.js'
import 'uplot/dist/uPlot.min.css'

/** A series of a chart. The order of the series is the drawing order. */
export interface Series {
  label: string
  /** Name of the CSS variable that holds the color. */
  colour: string
  /** `stack`: bars on top of the stacked series that come after; `within`: bars in front of those; or a line, solid or in dashes. */
  draw: 'stack' | 'within' | 'line' | 'dashes'
  values: Array<number | null>
  /** Draws the bars with stripes, which differ from plain bars even without their color. */
  isStriped?: boolean
}

interface ChartProps {
  /** Description of the chart with its main figures, for people who cannot see it. */
  title: string
  /** Unix seconds, or numbers from 0 to 1 when they have a name. */
  x: number[]
  xName?: string
  series: Series[]
  unit?: string
  mark?: { at: number; label: string }
}

const HEIGHT_PX = 210
const WHOLE_STEPS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 1e4, 2e4, 5e4, 1e5, 1e6]
const MARK_GAP_PX = 6
const DAY_SECONDS = 86_400
/** A chart of more days shows dates, since a weekday would be ambiguous. */
const DATED_DAYS = 8

export function Chart(props: ChartProps) {
  const box = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot | null>(null)
  const latest = useRef(props)
  latest.current = props
  const theme = useTheme()
  const zone = useShownZone()
  const { x, series, title, xName, unit, mark } = props
  const shape = JSON.stringify([series.map(({ label, colour, draw }) => [label, colour, draw]), unit, mark])
  useEffect(() => {
    const host = box.current!
    const made = new uPlot(options(host, latest), data(latest.current), host)
    plot.current = made
    const observer = new ResizeObserver(() => made.setSize({ width: host.clientWidth, height: HEIGHT_PX }))
    observer.observe(host)
    return () => {
      observer.disconnect()
      made.destroy()
    }
  }, [shape, theme, xName, zone])
  // New figures go into the existing chart: a new chart would lose the reader's cursor.
  useEffect(() => plot.current?.setData(data(props)), [x, series])
  return (
    <>
      <div class="chart" ref={box} role="img" aria-label={title} />
      <ChartTable
        title={title}
        stepName={xName ?? `Time in ${zone}`}
        x={x}
        nameOf={(at) => label(at, props)}
        series={series}
        unit={unit}
      />
    </>
  )
}

/** Returns the data as uPlot needs it: each stacked series with those below it added. Zeros are left out, since they would draw a line. */
function data({ x, series }: ChartProps): uPlot.AlignedData {
  const below = x.map(() => 0)
  const columns = series.map(({ draw, values }) => ({ draw, values }))
  for (const column of columns.toReversed()) {
    if (isLine(column)) continue
    const { draw, values } = column
    column.values = values.map((value, i) => (value ? value + (draw === 'stack' ? below[i]! : 0) : null))
    if (draw === 'stack') for (const [i, value] of values.entries()) below[i]! += value ?? 0
  }
  return [x, ...columns.map(({ values }) => values)] as uPlot.AlignedData
}

function options(host: HTMLElement, latest: { current: ChartProps }): uPlot.Options {
  const { series, xName, unit, mark } = latest.current
  const css = (name: string) => {
    // A variable for both themes becomes a color only where it is used as one.
    host.style.color = `var(${name})`
    // A page with forced colors would answer that of its text for each.
    host.style.forcedColorAdjust = 'none'
    const { color } = getComputedStyle(host)
    host.style.color = ''
    host.style.forcedColorAdjust = ''
    return color
  }
  const font = `11px ${getComputedStyle(host).fontFamily}`
  // The scale has room for half a bar at either end.
  const halfStep = () => {
    const [first = 0, second = 1] = latest.current.x
    return (second - first) / 2
  }
  const isWhole = !series.some(isLine)
  const axis: uPlot.Axis = {
    stroke: css('--muted'),
    font,
    grid: { stroke: css('--line'), width: 1 },
    ticks: { show: false },
  }
  return {
    width: host.clientWidth,
    height: HEIGHT_PX,
    padding: [14, 26, 0, 0],
    scales: {
      x: { time: !xName, range: (_, min, max) => (xName ? [0, 1] : [min - halfStep(), max + halfStep()]) },
      y: { range: (_, __, max) => [0, Math.max(1, max * 1.1)] },
    },
    cursor: { drag: { x: false, y: false }, points: { show: !isWhole } },
    legend: { markers: { width: 0, fill: (_, index) => markerOf(series[index - 1], css) } },
    axes: [
      {
        ...axis,
        size: 32,
        space: 76,
        ...(xName ? {} : { values: (_, splits) => splits.map(timeOf(latest.current.x)) }),
      },
      {
        ...axis,
        size: unit ? 60 : 40,
        values: (_, splits) => splits.map((split) => (unit ? `${split} ${unit}` : `${split}`)),
        ...(isWhole ? { incrs: WHOLE_STEPS } : {}),
      },
    ],
    series: [
      { label: xName ?? 'Time', value: (_, at) => (at == null ? '' : label(at, latest.current)) },
      ...series.map(({ label, colour, draw, isStriped }, index): uPlot.Series => {
        const shared: uPlot.Series = {
          label,
          value: (_, __, ___, at) => {
            const value = at === null ? null : latest.current.series[index]?.values[at]
            return value == null ? '' : `${value}${unit ? ` ${unit}` : ''}`
          },
        }
        if (isLine({ draw }))
          return {
            ...shared,
            stroke: css(colour),
            width: 2,
            ...(draw === 'dashes' ? { dash: [6, 6] } : {}),
            points: { size: 6, show: isSparse },
            spanGaps: true,
          }
        const bars = uPlot.paths.bars!({ size: [0.8], radius: 0.1 })
        const fill = isStriped ? stripes(css(colour), css('--card')) : css(colour)
        return { ...shared, fill: () => fill, width: 0, paths: bars, points: { show: false } }
      }),
    ],
    hooks: mark ? { draw: [(self) => drawMark(self, mark, css('--text'), font)] } : {},
  }
}

const STRIPE_PX = 4

/** Returns a pattern of ascending stripes in the color, with gaps of half their width. */
function stripes(colour: string, gap: string): CanvasPattern | string {
  const size = Math.round(STRIPE_PX * 2 * devicePixelRatio)
  const tile = document.createElement('canvas')
  tile.width = size
  tile.height = size
  const context = tile.getContext('2d')!
  context.fillStyle = colour
  context.fillRect(0, 0, size, size)
  context.strokeStyle = gap
  context.lineWidth = size / 4
  // Three lines, so that the tiles join without a break at their corners.
  for (const shift of [-size, 0, size]) {
    context.moveTo(shift - size / 2, size * 1.5)
    context.lineTo(shift + size * 1.5, -size / 2)
  }
  context.stroke()
  return context.createPattern(tile, 'repeat') ?? colour
}

function markerOf(series: Series | undefined, css: (name: string) => string): string {
  const colour = css(series?.colour ?? '--muted')
  if (!series?.isStriped) return colour
  return `repeating-linear-gradient(-45deg, ${colour} 0 2px, ${css('--card')} 2px 3.5px)`
}

function isLine({ draw }: Pick<Series, 'draw'>): boolean {
  return draw === 'line' || draw === 'dashes'
}

/** Whether a point of a line has no neighbors: without a dot it would be invisible. */
function isSparse(self: uPlot, index: number): boolean {
  return Array.from<number | null | undefined>(self.data[index]!).filter((value) => value != null).length < 3
}

function label(at: number, { xName, x }: ChartProps): string {
  return xName ? at.toFixed(2) : timeOf(x)(at)
}

/** Returns a function that formats a time: with the day of the week when `x` spans several days, and as a date when it spans weeks. */
function timeOf(x: number[]): (seconds: number) => string {
  const span = (x.at(-1) ?? 0) - (x[0] ?? 0)
  const form: Intl.DateTimeFormatOptions =
    span > DATED_DAYS * DAY_SECONDS
      ? { month: 'short', day: 'numeric' }
      : { hour: '2-digit', minute: '2-digit', ...(span > DAY_SECONDS ? { weekday: 'short' } : {}) }
  const format = new Intl.DateTimeFormat('en', { ...form, hourCycle: 'h23', timeZone: shownZone() })
  return (seconds) => format.format(new Date(seconds * 1000))
}

function drawMark(
  { ctx, bbox, valToPos }: uPlot,
  mark: { at: number; label: string },
  colour: string,
  font: string,
) {
  const at = valToPos(mark.at, 'x', true)
  const scale = devicePixelRatio
  ctx.save()
  ctx.strokeStyle = colour
  ctx.fillStyle = colour
  ctx.lineWidth = 1.5 * scale
  ctx.setLineDash([4 * scale, 3 * scale])
  ctx.beginPath()
  ctx.moveTo(at, bbox.top)
  ctx.lineTo(at, bbox.top + bbox.height)
  ctx.stroke()
  ctx.font = font.replace(/^\d+/, String(11 * scale))
  const isRight = at > bbox.left + bbox.width / 2
  ctx.textAlign = isRight ? 'right' : 'left'
  ctx.textBaseline = 'top'
  ctx.fillText(mark.label, at + (isRight ? -1 : 1) * MARK_GAP_PX * scale, bbox.top)
  ctx.restore()
}

/** The figures for people who cannot see the chart or want the numbers, without the steps at which every series is 0 or missing. */
function ChartTable(props: {
  title: string
  stepName: string
  x: number[]
  nameOf: (at: number) => string
  series: Array<{ label: string; values: Array<number | null> }>
  unit: string | undefined
}) {
  const { title, stepName, x, nameOf, series, unit } = props
  // A closed table is not drawn: it can have hundreds of rows, and follows the chart every few seconds.
  const [isOpen, setOpen] = useState(false)
  const steps = isOpen
    ? x.flatMap((at, i) => (series.some(({ values }) => values[i]) ? [{ at, i }] : []))
    : []
  return (
    <details class="chart-table muted small" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        Show as table<span class="for-readers">: {title}</span>
      </summary>
      {isOpen && (
        <Table
          label={title}
          kind="figures"
          rows={steps}
          columns={[
            { name: stepName, cell: ({ at }) => nameOf(at) },
            ...series.map(({ label, values }) => ({
              name: unit ? `${label}, ${unit}` : label,
              isNumber: true,
              cell: ({ i }: { i: number }) => values[i]?.toLocaleString() ?? '–',
            })),
          ]}
          empty={<Empty title="No figures yet" />}
        />
      )}
    </details>
  )
}
