/** The components that all pages share. */
import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { sending } from './form.js'

export function Card(props: {
  title: string
  hint?: ComponentChildren
  actions?: ComponentChildren
  children: ComponentChildren
}) {
  return (
    <section class="card">
      <header>
        <div>
          <h2>{props.title}</h2>
          {props.hint && <p class="muted">{props.hint}</p>}
        </div>
        {props.actions && <div class="actions">{props.actions}</div>}
      </header>
      {props.children}
    </section>
  )
}

/** A field for a code of an authenticator app, or a recovery code. */
export function CodeField(props: { id: string; value: string; onInput: (code: string) => void }) {
  return (
    <>
      <label for={props.id}>Code of your app, or a recovery code</label>
      <input
        id={props.id}
        type="text"
        autocomplete="one-time-code"
        autocapitalize="characters"
        required
        maxLength={32}
        value={props.value}
        onInput={(event) => props.onInput(event.currentTarget.value)}
      />
    </>
  )
}

export type Tone = 'good' | 'warn' | 'bad' | 'plain'

export function Badge({ tone, children }: { tone: Tone; children: ComponentChildren }) {
  return <span class={`badge ${tone}`}>{children}</span>
}

/** @param props.onRetry repeats the request; absent when the person can repeat the action */
export function Problem({ message, onRetry }: { message: string | null; onRetry?: () => void }) {
  if (!message) return null
  return (
    <>
      <p class="problem" role="alert">
        {message}
      </p>
      {onRetry && (
        <div class="toolbar">
          <button type="button" onClick={onRetry}>
            Retry
          </button>
        </div>
      )}
    </>
  )
}

/** Stands in for a page's data while it is loading, or shows why it could not be loaded, with a button to retry. */
export function Waiting({ data }: { data: { error: string | null; reload: () => void } }) {
  return data.error === null ? <Loading /> : <Problem message={data.error} onRetry={data.reload} />
}

/** A field for a password, which the person may reveal while typing. */
export function PasswordField(props: {
  id: string
  label: string
  autocomplete: 'current-password' | 'new-password'
  minLength?: number
  value: string
  onInput: (value: string) => void
}) {
  const [isShown, setShown] = useState(false)
  return (
    <>
      <label for={props.id}>{props.label}</label>
      <div class="password">
        <input
          id={props.id}
          // The types of the attributes allow only one fixed type for a field.
          type={(isShown ? 'text' : 'password') as 'password'}
          autocomplete={props.autocomplete}
          autocapitalize="off"
          required
          minLength={props.minLength ?? 0}
          value={props.value}
          onInput={(event) => props.onInput(event.currentTarget.value)}
        />
        <button type="button" aria-pressed={isShown} onClick={() => setShown(!isShown)}>
          {isShown ? 'Hide' : 'Show'}
          <span class="for-readers"> {props.label.toLowerCase()}</span>
        </button>
      </div>
    </>
  )
}

export function Loading() {
  return (
    <p class="muted" aria-live="polite">
      Loading…
    </p>
  )
}

/** Stands in for a list that is still empty. */
export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <strong>{title}</strong>
      {children && <div class="muted">{children}</div>}
    </div>
  )
}

export type Fact = [name: string, value: ComponentChildren]

export function Facts({ rows }: { rows: Fact[] }) {
  return (
    <dl class="facts">
      {rows.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}

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
        <button
          type="button"
          key={value}
          aria-pressed={value === props.value}
          onClick={() => props.onChange(value)}
        >
          {text}
        </button>
      ))}
    </fieldset>
  )
}

/** A dialog that asks for confirmation. Escape and Cancel change nothing, and the focus returns to where it was. */
export function Confirm(props: {
  title: string
  children: ComponentChildren
  confirm: string
  isDanger?: boolean
  /** Whether the form of the dialog is complete; true by default. */
  isReady?: boolean
  /** Called with the answer, before `onConfirm`. */
  onClose: (isConfirmed: boolean) => void
  onConfirm?: () => void
}) {
  const dialog = useRef<HTMLDialogElement>(null)
  const titleId = useId()
  useEffect(() => dialog.current?.showModal(), [])
  // Only closing returns the focus: a dialog that is just removed would lose it.
  const close = (answer: string) => dialog.current?.close(answer)
  return (
    <dialog
      ref={dialog}
      aria-labelledby={titleId}
      onClose={() => {
        const isConfirmed = dialog.current?.returnValue === 'confirm'
        props.onClose(isConfirmed)
        if (isConfirmed) props.onConfirm?.()
      }}
    >
      <form onSubmit={sending(() => close('confirm'))}>
        <h2 id={titleId}>{props.title}</h2>
        {props.children}
        <div class="actions">
          <button type="button" onClick={() => close('cancel')}>
            Cancel
          </button>
          <button
            type="submit"
            class={props.isDanger ? 'danger solid' : 'primary'}
            disabled={props.isReady === false}
          >
            {props.confirm}
          </button>
        </div>
      </form>
    </dialog>
  )
}

/** Returns a count in words, such as "1 entry" and "2,688 entries". */
export function entryCount(count: number): string {
  return count === 1 ? '1 entry' : `${count.toLocaleString()} entries`
}
