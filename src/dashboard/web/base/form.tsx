/** The buttons of all pages, and what their forms share: the act of sending one, and a choice among a few values. */
import type { ComponentProps, TargetedSubmitEvent } from 'preact'

/** A button, which sends a form only where its type says so. @param props.about further words for screen readers, where many buttons of a page have the same text */
export function Button({
  text,
  about,
  ...attributes
}: ComponentProps<'button'> & { text: string; about?: string }) {
  return (
    <button type="button" {...attributes}>
      {text}
      {about && <span class="for-readers"> {about}</span>}
    </button>
  )
}

/** Handles the event of a form that is sent, which then loads no other page. */
export function sending(act: (form: HTMLFormElement) => unknown) {
  return (event: TargetedSubmitEvent<HTMLFormElement>) => {
    event.preventDefault()
    void act(event.currentTarget)
  }
}

/** A choice with its label. @param props.options values with their texts; a value without one is its own text */
export function Choice<Value extends string>(props: {
  id: string
  name?: string
  label: string
  options: ReadonlyArray<Value | readonly [value: Value, text: string]>
  disabled?: boolean
  value?: Value
  onChoose?: (value: Value) => void
}) {
  const { label, options, onChoose, ...attributes } = props
  return (
    <>
      <label for={props.id}>{label}</label>
      <select {...attributes} onChange={(event) => onChoose?.(event.currentTarget.value as Value)}>
        {options.map((option) => {
          const [value, text] = typeof option === 'string' ? [option, option] : option
          return (
            <option key={value} value={value}>
              {text}
            </option>
          )
        })}
      </select>
    </>
  )
}
