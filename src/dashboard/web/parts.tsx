/** The components that all pages share. */
import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { dayText, momentText, useShownZone } from './time-zone.js'

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

export interface Column {
  name: string
  isNumber?: boolean
  /** Whether long text may wrap; other cells stay on one line. */
  isText?: boolean
  /** Whether only screen readers get the heading. */
  isSilent?: boolean
}

/** A table. On a phone, each row becomes a block of names and values. */
export function Table(props: {
  label: string
  columns: Column[]
  /** Whether the table has only a few narrow columns of figures, and so stays a table on a phone. */
  isFigures?: boolean
  /** Whether the table has many rows: on a phone, each row is then a few lines of text without the names of the columns. */
  isLog?: boolean
  rows: Array<{ key: string | number; cells: ComponentChildren[]; below?: ComponentChildren }>
}) {
  const { columns } = props
  return (
    <section
      class={`wide ${props.isFigures ? 'figures' : props.isLog ? 'log' : ''}`}
      tabIndex={0}
      aria-label={props.label}
    >
      <table>
        <thead>
          <tr>
            {columns.map(({ name, isNumber, isSilent }) => (
              <th key={name} scope="col" class={isNumber ? 'number' : undefined}>
                {isSilent ? <span class="for-readers">{name}</span> : name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {props.rows.map(({ key, cells, below }) => (
            <>
              <tr key={key}>
                {cells.map((cell, index) => {
                  const column = columns[index]!
                  return (
                    <td
                      key={column.name}
                      class={column.isNumber ? 'number' : column.isText ? 'text' : undefined}
                      data-name={column.isSilent ? undefined : column.name}
                    >
                      {cell}
                    </td>
                  )
                })}
              </tr>
              {below && (
                <tr key={`${key}-below`} class="below">
                  <td colSpan={columns.length}>{below}</td>
                </tr>
              )}
            </>
          ))}
        </tbody>
      </table>
    </section>
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

export function CopyButton({ value }: { value: string }) {
  const [copied, setCopied] = useState<boolean | null>(null)
  // Without TLS, browsers offer the clipboard only on localhost.
  const copy = () =>
    navigator.clipboard
      ? navigator.clipboard.writeText(value).then(
          () => setCopied(true),
          () => setCopied(false),
        )
      : setCopied(false)
  return (
    <button type="button" onClick={copy}>
      {copied === null ? 'Copy' : copied ? 'Copied' : 'Copy by hand'}
    </button>
  )
}

/** A secret that is shown only once, with the texts that accompany it. */
export interface Revealed {
  label: string
  value: string
  /** Instruction to the person. By default, it is to put the secret into the backend's secret store. */
  hint?: string
  /** Further names and values that are no secrets, such as ids. */
  details?: Array<[name: string, value: string]>
}

export function Reveal({ label, value, hint, details = [], onDone }: Revealed & { onDone: () => void }) {
  return (
    <div class="reveal" role="status">
      <strong>{label}</strong>
      <p>Shown only now. {hint ?? 'Put it into the secret store of your backend.'}</p>
      <div class="copyable">
        <code>{value}</code>
        <CopyButton value={value} />
        <button type="button" onClick={onDone}>
          Hide<span class="for-readers"> {label}</span>
        </button>
      </div>
      {details.map(([name, text]) => (
        <div class="copyable detail" key={name}>
          <span>{name}</span>
          <code>{text}</code>
          <CopyButton value={text} />
        </div>
      ))}
    </div>
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
  onConfirm: () => void
  onCancel: () => void
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
      onClose={() => (dialog.current?.returnValue === 'confirm' ? props.onConfirm() : props.onCancel())}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault()
          close('confirm')
        }}
      >
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

/** Returns the time zone of the computer, which the fields for times use, such as `Europe/Berlin`. */
export function timeZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone
}

/** Shows a time. With `day` it shows only the day, and the whole time in the tooltip. */
export function Time({ at, day }: { at: string; day?: boolean }) {
  const zone = useShownZone()
  const full = momentText(at, zone)
  return (
    <time dateTime={at} title={full}>
      {day ? dayText(at, zone) : full}
    </time>
  )
}

/** Counts down every second, by the service's clock. */
export function Countdown({ until, now }: { until: string; now: string }) {
  const [remainingMs, setRemainingMs] = useState(Date.parse(until) - Date.parse(now))
  useEffect(() => {
    const end = performance.now() + Date.parse(until) - Date.parse(now)
    const tick = () => setRemainingMs(end - performance.now())
    tick()
    const timer = setInterval(tick, 1000)
    return () => clearInterval(timer)
  }, [until, now])
  const seconds = Math.max(0, Math.round(remainingMs / 1000))
  return (
    <span class="countdown" role="timer">
      {Math.floor(seconds / 60)}:{String(seconds % 60).padStart(2, '0')}
    </span>
  )
}
