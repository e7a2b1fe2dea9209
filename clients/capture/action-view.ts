/** Shows the action that the person confirms, above everything else of the component and for as long as the component is shown. */
import { create } from './element.js'

/** The text of a typed action, as `displayAction` of the SDK writes it in the page's backend. */
export interface CaptureDisplay {
  /** Kind of action. */
  heading: string
  /** Names and values, in the order in which they are shown. */
  lines: ReadonlyArray<{ label: string; value: string; note?: string }>
}

export class ActionView {
  /** A long list scrolls inside it, by keyboard too. */
  readonly shown = create('section', { part: 'action', tabindex: '0', hidden: '' })

  show(display: CaptureDisplay | null): void {
    this.shown.hidden = !display
    // Each text is isolated, so that one that is written from right to left moves nothing around it.
    const rows = display?.lines.flatMap(({ label, value, note }) => [
      create('dt', {}, create('bdi', {}, label)),
      create('dd', {}, create('bdi', {}, value), ...(note ? [create('p', {}, note)] : [])),
    ])
    if (rows) this.shown.replaceChildren(create('strong', {}, display!.heading), create('dl', {}, ...rows))
  }
}
