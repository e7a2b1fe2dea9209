/** The components that all pages share. */
import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { type Data, useAction } from './data.js'
import { Button, Field, type Given, givenIn, NOTHING_GIVEN, sending } from './form.js'

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

/** A question that a dialog asks before something is done. What depends on the dialog's fields is a function of what they hold. */
export interface Question {
  title: string
  confirm: string
  isDanger?: boolean | ((given: Given) => boolean)
  /** A text that the person has to type before the button works. */
  typed?: string
  /** The consequence, and the fields of the dialog. */
  children: ComponentChildren | ((given: Given) => ComponentChildren)
  act: (given: Given) => Promise<unknown>
}

/**
 * The actions of a page, of which some ask a question first.
 *
 * @param after called after each action, also after one that failed
 * @param data what the page shows, whose last load may have failed too
 * @returns `ask` besides what `useAction` returns, and `feedback`, which the page must show: the problem and the open question
 */
export function useActions(after?: () => void, data?: Data<unknown>) {
  const action = useAction(after)
  const [question, ask] = useState<Question | null>(null)
  const answer = (given: Given | null) => {
    ask(null)
    if (given) void action.run(() => question!.act(given))
  }
  const dialog = question && <Confirm question={question} onAnswer={answer} />
  const feedback = (
    <>
      <Problem message={action.problem ?? data?.error ?? null} />
      {dialog}
    </>
  )
  return { ...action, ask: (asked: Question) => ask(asked), dialog, feedback }
}
export type Actions = ReturnType<typeof useActions>

/** A dialog that is open while it is shown. Escape and `close` change nothing, and the focus returns to where it was. */
export function Dialog(props: {
  title: string
  submit: string
  isDanger?: boolean
  isDisabled?: boolean
  /** Whether there is a button to leave the dialog; true by default. */
  canCancel?: boolean
  /** Called with what the fields hold: first, and when they change. */
  onInput?: (given: Given) => void
  /** Called when the form is sent. Only `close` closes the dialog: one that is just removed would lose the focus. */
  onSend: (close: (answer: string) => void, given: Given) => void
  onClose: (answer: string) => void
  children: ComponentChildren
}) {
  const dialog = useRef<HTMLDialogElement>(null)
  const form = useRef<HTMLFormElement>(null)
  const titleId = useId()
  const read = () => props.onInput?.(givenIn(form.current!))
  useEffect(() => {
    read()
    dialog.current?.showModal()
  }, [])
  const close = (answer: string) => dialog.current?.close(answer)
  return (
    <dialog
      ref={dialog}
      aria-labelledby={titleId}
      onClose={({ currentTarget }) => props.onClose(currentTarget.returnValue)}
    >
      <form ref={form} onInput={read} onSubmit={sending((given) => props.onSend(close, given))}>
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

/** @param props.onAnswer called with what the fields hold, or null for a dialog that was left */
function Confirm(props: { question: Question; onAnswer: (given: Given | null) => void }) {
  const { title, confirm, isDanger, typed, children } = props.question
  const sent = useRef<Given | null>(null)
  const [given, setGiven] = useState(NOTHING_GIVEN)
  return (
    <Dialog
      title={title}
      submit={confirm}
      isDanger={typeof isDanger === 'function' ? isDanger(given) : isDanger}
      isDisabled={typed !== undefined && typed !== given.typed('typed-to-confirm')}
      onInput={setGiven}
      onSend={(close, given) => {
        sent.current = given
        close('confirm')
      }}
      onClose={() => props.onAnswer(sent.current)}
    >
      {typeof children === 'string' ? (
        <p>{children}</p>
      ) : typeof children === 'function' ? (
        children(given)
      ) : (
        children
      )}
      {typed && (
        <Field
          id="typed-to-confirm"
          label={
            <>
              Type <code>{typed}</code> to confirm
            </>
          }
          autocapitalize="off"
          spellcheck={false}
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
