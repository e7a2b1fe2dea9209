/** The buttons, fields and forms of all pages. The fields of a form are read when it is sent, by their names, which are their ids. */
import type { AllHTMLAttributes, ComponentChildren, ComponentProps, TargetedSubmitEvent } from 'preact'
import { useState } from 'preact/hooks'

/** A button, which sends a form only where its type says so. @param props.about further words for screen readers, where many buttons of a page have the same text */
export function Button(props: ComponentProps<'button'> & { text: string; about?: string }) {
  const { text, about, ...attributes } = props
  return (
    <button type="button" {...attributes}>
      {text}
      {about && <span class="for-readers"> {about}</span>}
    </button>
  )
}

/** Handles the event of a form that is sent, which then loads no other page. */
export function sending(act: (given: Given, form: HTMLFormElement) => unknown) {
  return (event: TargetedSubmitEvent<HTMLFormElement>) => {
    event.preventDefault()
    void act(givenIn(event.currentTarget), event.currentTarget)
  }
}

/** Returns the lines of a text that hold something, without the spaces around them. */
export function lines(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean)
}

/** Reads a form now, so that what it gives stays when the form is gone. */
export function givenIn(form?: HTMLFormElement) {
  const data = new FormData(form)
  const typed = (name: string) => String(data.get(name) ?? '')
  const textOf = (name: string) => typed(name).trim()
  return {
    /** Without the spaces around it, and empty where the form lacks the field. */
    text: <Value extends string>(name: string) => textOf(name) as Value,
    /** The text as it was typed. */
    typed,
    number: (name: string) => (textOf(name) === '' ? null : Number(textOf(name))),
    /** Returns the values of the boxes of this name that are checked. */
    checked: <Value extends string>(name: string) => data.getAll(name) as Value[],
    isChecked: (name: string) => data.has(name),
  }
}
/** The texts and choices of a person in a form. */
export type Given = ReturnType<typeof givenIn>
export const NOTHING_GIVEN = givenIn()

interface Described {
  id: string
  label: ComponentChildren
  /** Stands below the field, and describes it for screen readers. */
  hint?: ComponentChildren
  /** Class of the box around label and field: `twice` for twice the width in a form of several columns, `when` for a time. */
  class?: string
}

export function Labeled(props: Described & { children: ComponentChildren }) {
  const { id, hint } = props
  return (
    <div class={`field ${props.class ?? ''}`}>
      <label for={id}>{props.label}</label>
      {props.children}
      {hint && (
        <p id={`${id}-hint`} class="muted small">
          {hint}
        </p>
      )}
    </div>
  )
}

/** Attributes of fields for a false match rate, for a rate of requests, and for a name. */
export const RATE = { type: 'number', min: '1e-9', max: '0.5', step: 'any' }
export const REQUESTS = { label: 'Requests per second', type: 'number', min: '0.1', step: 'any' }
export const NAME = {
  label: 'Name',
  required: true,
  pattern: '[A-Za-z0-9][A-Za-z0-9._\\-]*',
  title: 'Letters, digits, dots, dashes and underscores',
}

interface FieldProps
  extends Described,
    Omit<
      AllHTMLAttributes<HTMLInputElement>,
      'id' | 'label' | 'class' | 'onInput' | 'rows' | 'defaultValue'
    > {
  /** Makes the field one of several lines. */
  rows?: number
  defaultValue?: string | number
  onText?: (text: string) => void
}

/** A field for text, with its label. Without `value` and `onText` the form is what reads it. The browser fills none but those of a sign-in. */
export function Field({ label, hint, class: box, onText, ...attributes }: FieldProps) {
  const { id, rows } = attributes
  const control = {
    name: id,
    autocomplete: 'off',
    'aria-describedby': hint ? `${id}-hint` : undefined,
    ...attributes,
    onInput: (event: { currentTarget: { value: string } }) => onText?.(event.currentTarget.value),
  } as object
  return (
    <Labeled id={id} label={label} hint={hint} class={box}>
      {rows ? <textarea {...control} /> : <input {...control} />}
    </Labeled>
  )
}

/** A field for a password, which the person may reveal while typing. */
export function PasswordField(props: {
  id: string
  label: string
  autocomplete: string
  minLength?: number
}) {
  const [isShown, setShown] = useState(false)
  const { label, ...attributes } = props
  return (
    <Labeled id={props.id} label={label}>
      <div class="password">
        <input
          name={props.id}
          {...(attributes as object)}
          // The types of the attributes allow only one fixed type for a field.
          type={(isShown ? 'text' : 'password') as 'password'}
          autocapitalize="off"
          required
        />
        <Button
          text={isShown ? 'Hide' : 'Show'}
          about={label.toLowerCase()}
          aria-pressed={isShown}
          onClick={() => setShown(!isShown)}
        />
      </div>
    </Labeled>
  )
}

/** A field for a code of an authenticator app, or a recovery code. */
export function CodeField({ id }: { id: string }) {
  return (
    <Field
      id={id}
      label="Code of your app, or a recovery code"
      autocomplete="one-time-code"
      autocapitalize="characters"
      required
      maxLength={32}
    />
  )
}

/** Values of a choice with their texts; a value without one is its own text. */
export type Options<Value extends string> = ReadonlyArray<Value | readonly [value: Value, text: string]>

/** A choice with its label. @param props.value the value that is chosen. @param props.initial the one at first, where the form reads the choice */
export function Choice<Value extends string>(props: {
  id: string
  label: string
  options: Options<Value>
  disabled?: boolean
  value?: Value
  initial?: string
  onChoose?: (value: Value) => void
}) {
  const { label, options, initial, onChoose, ...attributes } = props
  return (
    <Labeled id={props.id} label={label}>
      <select
        name={props.id}
        {...attributes}
        onChange={(event) => onChoose?.(event.currentTarget.value as Value)}
      >
        {options.map((option) => {
          const [value, text] = typeof option === 'string' ? [option, option] : option
          return (
            // The default, and not only the choice, so that it returns when the form is emptied.
            <option key={value} value={value} {...(value === initial && { defaultSelected: true })}>
              {text}
            </option>
          )
        })}
      </select>
    </Labeled>
  )
}

/** A box to check, which the form reads. */
export function Check(props: { name: string; text: string; initial?: boolean }) {
  return (
    <label class="check">
      <input type="checkbox" name={props.name} defaultChecked={props.initial ?? false} />
      {props.text}
    </label>
  )
}

/** Boxes to check, which the form reads. @param props.options values with what stands next to their boxes */
export function Checks(props: {
  name: string
  legend: string
  options: ReadonlyArray<readonly [value: string, text: ComponentChildren]>
  initial?: string[]
}) {
  return (
    <fieldset class="choices">
      <legend>{props.legend}</legend>
      {props.options.map(([value, text]) => (
        <label key={value}>
          <input
            type="checkbox"
            name={props.name}
            value={value}
            defaultChecked={props.initial?.includes(value) ?? false}
          />{' '}
          {text}
        </label>
      ))}
    </fieldset>
  )
}

export const ENVIRONMENTS = [
  ['production', 'Production'],
  ['sandbox', 'Sandbox'],
] as const

/** A choice between a few options, all of which are visible. */
export function Segments<Value extends string>(props: {
  label: string
  options: ReadonlyArray<readonly [Value, string]>
  value: Value
  onChange: (value: Value) => void
}) {
  return (
    <fieldset class="segments">
      <legend class="for-readers">{props.label}</legend>
      {props.options.map(([value, text]) => (
        <Button
          text={text}
          key={value}
          aria-pressed={value === props.value}
          onClick={() => props.onChange(value)}
        />
      ))}
    </fieldset>
  )
}
