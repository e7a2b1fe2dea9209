/** A uPlot chart that follows its box and the colours of the theme. */
import { useEffect, useRef } from 'preact/hooks'
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'

export interface Line {
  label: string
  /** A CSS variable. */
  colour: string
  bars?: boolean
}

const HEIGHT_PX = 200

export function Chart(props: {
  title: string
  x: number[]
  lines: Line[]
  values: Array<Array<number | null>>
  /** x is a number, not a time. */
  numeric?: boolean
  /** A vertical line. */
  mark?: number
}) {
  const box = useRef<HTMLDivElement>(null)
  const { title, x, lines, values, numeric, mark } = props
  useEffect(() => {
    const host = box.current!
    const css = (name: string) => getComputedStyle(host).getPropertyValue(name).trim()
    const axis = { stroke: css('--muted'), grid: { stroke: css('--line'), width: 1 }, ticks: { show: false } }
    const plot = new uPlot(
      {
        width: host.clientWidth,
        height: HEIGHT_PX,
        scales: { x: { time: !numeric } },
        cursor: { drag: { x: false, y: false } },
        axes: [axis, { ...axis, size: 44 }],
        series: [
          numeric ? { label: 'Score' } : {},
          ...lines.map(({ label, colour, bars }) => ({
            label,
            stroke: css(colour),
            width: 2,
            ...(bars
              ? { fill: css(colour), paths: uPlot.paths.bars!({ size: [0.8] }) }
              : { points: { size: 4 }, spanGaps: true }),
          })),
        ],
        hooks: {
          draw: [
            (self) => {
              if (mark === undefined) return
              const at = self.valToPos(mark, 'x', true)
              self.ctx.save()
              self.ctx.strokeStyle = css('--bad')
              self.ctx.lineWidth = 2
              self.ctx.beginPath()
              self.ctx.moveTo(at, self.bbox.top)
              self.ctx.lineTo(at, self.bbox.top + self.bbox.height)
              self.ctx.stroke()
              self.ctx.restore()
            },
          ],
        },
      },
      [x, ...values] as uPlot.AlignedData,
      host,
    )
    const observer = new ResizeObserver(() => plot.setSize({ width: host.clientWidth, height: HEIGHT_PX }))
    observer.observe(host)
    return () => {
      observer.disconnect()
      plot.destroy()
    }
  }, [x, values, lines, numeric, mark])
  return <div class="chart" ref={box} role="img" aria-label={title} />
}
