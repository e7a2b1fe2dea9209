/** The components that all pages share. */
import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { type Data, useAction } from './data.js'
import { Button, Field, type Given, sending } from './form.js'

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
          <Button text="Retry" onClick={onRetry} />
        </div>
      )}
    </>
  )
}

/** Stands in for a page's data while it is loading, or shows why it could not be loaded, with a button to retry. */
export function Waiting({ data }: { data: { error: string | null; reload: () => void } }) {
  return data.error === null ? <Loading /> : <Problem message={data.error} onRetry={data.reload} />
}

/** Shows data when they are there: until then, that they are loading, and after a failure, why, with a button to retry. */
export function Loaded<T>({ data, children }: { data: Data<T>; children: (value: T) => ComponentChildren }) {
  if (data.value === null) return <Waiting data={data} />
  return (
    <>
      <Problem message={data.error} onRetry={data.reload} />
      {children(data.value)}
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

/** @param props.rows the facts; what is no fact, such as `false` where a condition is not met, is left out */
export function Facts({ rows }: { rows: Array<Fact | false | null | undefined | ''> }) {
  return (
    <dl class="facts">
      {rows.map(
        (row) =>
          row && (
            <div key={row[0]}>
              <dt>{row[0]}</dt>
              <dd>{row[1]}</dd>
            </div>
          ),
      )}
    </dl>
  )
}

/** A figure in large, with its name above and a detail below. */
export function Tile(props: { name: string; value: ComponentChildren; detail: string }) {
  return (
    <div class="tile">
      <span class="muted">{props.name}</span>
      <strong>{props.value}</strong>
      <span class="muted small">{props.detail}</span>
    </div>
  )
}

/** A question that a dialog asks before something is done. */
export interface Question {
  title: string
  /** Text of the button that confirms. */
  confirm: string
  isDanger?: boolean
  /** A text that the person has to type before the button works. */
  typed?: string
  /** The consequence, and the fields of the dialog. */
  children: ComponentChildren
  /** Called with what the dialog's fields hold. */
  onConfirm?: (given: Given) => unknown
}

/** @returns a function that asks a question, and the dialog of the question, which the page must show */
export function useQuestion(): [ask: (question: Question) => void, dialog: ComponentChildren] {
  const [question, setQuestion] = useState<Question | null>(null)
  return [setQuestion, question && <Confirm {...question} onClose={() => setQuestion(null)} />]
}

/** A dialog that is open while it is shown. Escape and `close` change nothing, and the focus returns to where it was. */
export function Dialog(props: {
  title: string
  /** Text of the button that sends the form. */
  submit: string
  isDanger?: boolean
  isDisabled?: boolean
  /** Whether there is a button to leave the dialog; true by default. */
  canCancel?: boolean
  /** Called when the form is sent. Only `close` closes the dialog: one that is just removed would lose the focus. */
  onSend: (close: (answer: string) => void, given: Given) => void
  onClose: (answer: string) => void
  children: ComponentChildren
}) {
  const dialog = useRef<HTMLDialogElement>(null)
  const titleId = useId()
  useEffect(() => dialog.current?.showModal(), [])
  const close = (answer: string) => dialog.current?.close(answer)
  return (
    <dialog
      ref={dialog}
      aria-labelledby={titleId}
      onClose={({ currentTarget }) => props.onClose(currentTarget.returnValue)}
    >
      <form onSubmit={sending((given) => props.onSend(close, given))}>
        <h2 id={titleId}>{props.title}</h2>
        {props.children}
        <div class="actions">
          {props.canCancel !== false && <Button text="Cancel" onClick={() => close('')} />}
          <Button
            text={props.submit}
            type="submit"
            class={props.isDanger ? 'danger solid' : 'primary'}
            disabled={props.isDisabled}
          />
        </div>
      </form>
    </dialog>
  )
}

/** A dialog that asks for confirmation. */
export function Confirm(
  props: Question & {
    /** Called with the answer, before `onConfirm`. */
    onClose: (isConfirmed: boolean) => void
  },
) {
  const { title, typed, children } = props
  const sent = useRef<Given | null>(null)
  const [text, setText] = useState('')
  return (
    <Dialog
      title={title}
      submit={props.confirm}
      isDanger={props.isDanger}
      isDisabled={typed !== undefined && typed !== text}
      onSend={(close, given) => {
        sent.current = given
        close('confirm')
      }}
      onClose={() => {
        props.onClose(sent.current !== null)
        if (sent.current) props.onConfirm?.(sent.current)
      }}
    >
      {typeof children === 'string' ? <p>{children}</p> : children}
      {typed && (
        <Field
          id="typed-to-confirm"
          label={
            <>
              Type <code>{typed}</code> to confirm
            </>
          }
          autocomplete="off"
          autocapitalize="off"
          spellcheck={false}
          value={text}
          onText={setText}
        />
      )}
    </Dialog>
  )
}

/** A card with a form that adds something, and that is emptied afterwards. */
export function AddCard(props: {
  title: string
  hint: string
  submit?: string
  /** Whether the button stands in one row with the fields. */
  isRow?: boolean
  add: (given: Given) => Promise<unknown>
  children: ComponentChildren
}) {
  const { problem, isBusy, run } = useAction()
  const add = (given: Given, form: HTMLFormElement) =>
    run(async () => {
      await props.add(given)
      form.reset()
    })
  return (
    <Card title={props.title} hint={props.hint}>
      <form class={props.isRow ? 'fields' : undefined} onSubmit={sending(add)}>
        {props.children}
        <Problem message={problem} />
        <Button text={props.submit ?? 'Add'} type="submit" class="primary" disabled={isBusy} />
      </form>
    </Card>
  )
}

/** Returns a count in words, such as "1 entry" and "2,688 entries". */
export function entryCount(count: number): string {
  return count === 1 ? '1 entry' : `${count.toLocaleString()} entries`
}
