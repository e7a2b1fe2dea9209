/**
 * The parts that the pages of the request log and the audit log share: the form of filters, the way from page to page, and rows that open.
 */
import type { ComponentChildren } from 'preact'
import { localTime, type usePager } from './base/address-query.js'
import { Button, sending } from './base/form.js'
import { Problem } from './base/parts.js'
import { timeZone } from './base/times.js'
import { useAction } from './base/use-action.js'

/** Stands in the address instead of the pseudonym of a user whom the log cannot name. */
export const NOBODY = 'nobody'

const COMMON = ['id', 'subject', 'from', 'until'] as const
type Filters<Name extends string> = Record<Name | (typeof COMMON)[number], string>

/** The filters of a log. The fields that only one of the pages has are its children. */
export function FilterForm<const Name extends string>(props: {
  /** Begins the id of each field. */
  prefix: 'request' | 'audit'
  filters: Filters<Name>
  /** Names of the fields among the children. */
  names: readonly Name[]
  idHint?: string
  findSubject: (userId: string) => Promise<{ subject: string | null }>
  onChange: (changes: Filters<Name>) => void
  children: ComponentChildren
}) {
  const { prefix, filters, names, findSubject, onChange } = props
  const { problem, run } = useAction()
  const change = (pick: (name: Name | (typeof COMMON)[number]) => string) =>
    onChange(Object.fromEntries([...COMMON, ...names].map((name) => [name, pick(name)])) as Filters<Name>)
  const apply = (form: HTMLFormElement) =>
    run(async () => {
      const given = new FormData(form)
      const text = (name: string) => String(given.get(name) ?? '').trim()
      const userId = text('user')
      // The user id goes in a body: addresses end up in histories and logs.
      const subject = userId ? ((await findSubject(userId)).subject ?? NOBODY) : filters.subject
      change((name) => {
        if (name === 'subject') return subject
        if ((name === 'from' || name === 'until') && text(name)) return new Date(text(name)).toISOString()
        return text(name)
      })
    })
  return (
    <form class="filters" onSubmit={sending(apply)}>
      <div class="when">
        <label for={`${prefix}-id`}>Request or verification id</label>
        <input
          id={`${prefix}-id`}
          name="id"
          autocomplete="off"
          maxLength={128}
          placeholder={props.idHint}
          defaultValue={filters.id}
        />
      </div>
      <div>
        <label for={`${prefix}-user`}>User id</label>
        <input
          id={`${prefix}-user`}
          name="user"
          autocomplete="off"
          maxLength={128}
          placeholder={filters.subject && filters.subject !== NOBODY ? 'one user is chosen' : ''}
        />
      </div>
      {props.children}
      <TimeField id={`${prefix}-from`} name="from" label="From" value={filters.from} />
      <TimeField id={`${prefix}-until`} name="until" label="Until" value={filters.until} />
      <div class="buttons">
        <Button text="Apply" type="submit" class="primary" />
        <Button text="Clear" onClick={() => change(() => '')} />
      </div>
      <Problem message={problem} />
    </form>
  )
}

function TimeField(props: { id: string; name: string; label: string; value: string }) {
  return (
    <div class="when">
      <label for={props.id}>
        {props.label} ({timeZone()})
      </label>
      <input
        id={props.id}
        name={props.name}
        type="datetime-local"
        step="1"
        defaultValue={localTime(props.value)}
      />
    </div>
  )
}

/** A filter with one of a few values, or none. */
export function ChoiceField(props: {
  id: string
  name: string
  label: string
  value: string
  options: ReadonlyArray<readonly [value: string, text: string]>
}) {
  return (
    <div>
      <label for={props.id}>{props.label}</label>
      <select id={props.id} name={props.name}>
        <option value="">all</option>
        {props.options.map(([value, text]) => (
          <option key={value} value={value} selected={value === props.value}>
            {text}
          </option>
        ))}
      </select>
    </div>
  )
}

/** The buttons to newer and older entries; nothing where all entries stand on one page. */
export function PagerButtons(props: {
  entries: 'requests' | 'entries'
  pager: ReturnType<typeof usePager>
  /** Where this page and the next older one begin; empty or null for none. */
  before: string
  next: string | number | null | undefined
}) {
  const { entries, pager, before, next } = props
  if (!next && !before) return null
  return (
    <div class="pager">
      <button type="button" disabled={!before} onClick={pager.newer}>
        Newer {entries}
      </button>
      <button type="button" disabled={!next} onClick={() => pager.older(String(next))}>
        Older {entries}
      </button>
    </div>
  )
}

/** Opens and closes what stands below a row. */
export function MoreButton(props: { about: string; isOpen: boolean; onToggle: () => void }) {
  return (
    <Button
      text={props.isOpen ? 'Less' : 'More'}
      about={`about ${props.about}`}
      class="link"
      aria-expanded={props.isOpen}
      onClick={props.onToggle}
    />
  )
}

/** The pseudonym of a user, or a dash with the reason why an entry has none. */
export function Pseudonym({ subject, whyNone }: { subject: string | null | undefined; whyNone: string }) {
  if (subject) return <code title={subject}>{subject.slice(0, 12)}</code>
  return (
    <span title={whyNone}>
      <span aria-hidden="true">–</span>
      <span class="for-readers">{whyNone}</span>
    </span>
  )
}
