/** Shows a large arrow over the picture, which a person who turns or nods their head still sees. The words next to it say the same. */
import type { CaptureStep } from './capture-plan.js'
import { create } from './element.js'

type Direction = 'left' | 'right' | 'up' | 'down'

/** In a mirror the person's own left is on the left. */
const DIRECTIONS: Record<CaptureStep, { seen: Direction; mirrored: Direction } | null> = {
  frontal: null,
  turn_left: { seen: 'right', mirrored: 'left' },
  turn_right: { seen: 'left', mirrored: 'right' },
  nod_up: { seen: 'up', mirrored: 'up' },
  nod_down: { seen: 'down', mirrored: 'down' },
}

const OPPOSITE: Record<Direction, Direction> = { left: 'right', right: 'left', up: 'down', down: 'up' }

/** The arrow's order: begin or go on with a step, or come back from it. */
export interface ArrowOrder {
  step: CaptureStep
  isBack: boolean
}

export class ArrowView {
  readonly shown = create('div', { part: 'arrow', 'aria-hidden': 'true', hidden: '' })

  /** Points where the head is to go, at the edge to which the step leads; null and a look ahead have no arrow. */
  point(order: ArrowOrder | null, isMirrored: boolean): void {
    const directions = order && DIRECTIONS[order.step]
    this.shown.hidden = !directions
    if (!order || !directions) return
    const edge = directions[isMirrored ? 'mirrored' : 'seen']
    this.shown.dataset.edge = edge
    this.shown.dataset.to = order.isBack ? OPPOSITE[edge] : edge
  }
}
