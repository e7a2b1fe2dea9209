/** Small pieces that every page is made of. */
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

/** For a code of an app, or a recovery code. */
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

/** @param props.onRetry asks again; left out where the person repeats what they did */
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

/** A placeholder until a page's data is there: that it is fetched, or why it is not, with a way to ask again. */
export function Waiting({ data }: { data: { error: string | null; reload: () => void } }) {
  return data.error === null ? <Loading /> : <Problem message={data.error} onRetry={data.reload} />
}

/** A password, which the person may look at while typing it. */
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
          // The types of the attributes know no field that is one or the other.
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

/** What stands where there is nothing yet. */
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
  /** May be long: breaks into lines, where other cells keep to one. */
  isText?: boolean
  /** Its heading is for those who do not see the table. */
  isSilent?: boolean
}

/** On a phone every row becomes a block of names and values. */
export function Table(props: {
  label: string
  columns: Column[]
  /** A few narrow columns of figures, which stay a table on a phone. */
  isFigures?: boolean
  /** Many rows: on a phone each is a few lines that run on, without the names. */
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

/** One of a few, all of them in sight. */
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
  // Without TLS a browser lends no clipboard, save on localhost.
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

/** What is shown only once, with what is needed beside it. */
export interface Revealed {
  label: string
  value: string
  /** What to do with it, where it is not for the secret store of a backend. */
  hint?: string
  /** No secrets, such as ids: names and values. */
  beside?: Array<[name: string, value: string]>
}

export function Reveal({ label, value, hint, beside = [], onDone }: Revealed & { onDone: () => void }) {
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
      {beside.map(([name, text]) => (
        <div class="copyable beside" key={name}>
          <span>{name}</span>
          <code>{text}</code>
          <CopyButton value={text} />
        </div>
      ))}
    </div>
  )
}

/** Asks first. Escape and Cancel leave everything as it is; the focus goes back to where it was. */
export function Confirm(props: {
  title: string
  children: ComponentChildren
  confirm: string
  isDanger?: boolean
  /** Where something has to be typed first; true where it is not named. */
  isReady?: boolean
  onConfirm: () => void
  onCancel: () => void
}) {
  const dialog = useRef<HTMLDialogElement>(null)
  const titleId = useId()
  useEffect(() => dialog.current?.showModal(), [])
  // Closing gives the focus back; a dialog that is merely taken away would leave it nowhere.
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

/** A count in words, such as "1 entry" and "2,688 entries". */
export function entryCount(count: number): string {
  return count === 1 ? '1 entry' : `${count.toLocaleString()} entries`
}

/** The zone of the computer, in which the fields for times are, as in `Europe/Berlin`. */
export function timeZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone
}

/** A moment; with `day` its day alone, the rest where the pointer rests. */
export function Time({ at, day }: { at: string; day?: boolean }) {
  const zone = useShownZone()
  const full = momentText(at, zone)
  return (
    <time dateTime={at} title={full}>
      {day ? dayText(at, zone) : full}
    </time>
  )
}

/** Ticks every second, by the service's clock. */
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
