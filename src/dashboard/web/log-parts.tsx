/**
 * The parts that the pages of the request log and the audit log share: the form of filters, the table whose rows open, and the way from
 * page to page.
 */
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { localTime, type usePager } from './base/address-query.js'
import { useAction } from './base/data.js'
import { Button, Field, type Given, sending } from './base/form.js'
import { Badge, Problem } from './base/parts.js'
import { Table, type TableProps } from './base/table.js'
import { timeZone } from './base/times.js'

/** Stands in the address instead of the pseudonym of a user whom the log cannot name. */
export const NOBODY = 'nobody'
/** Precedes the values of a filter with a few. */
export const ALL = ['', 'all'] as const

const COMMON = ['id', 'subject', 'from', 'until'] as const
type Filters<Name extends string> = Record<Name | (typeof COMMON)[number], string>

/** The filters of a log. The fields that only one of the pages has are its children, and have the names of the filters. */
export function FilterForm<const Name extends string>(props: {
  filters: Filters<Name>
  /** Names of the fields among the children. */
  names: readonly Name[]
  idHint?: string
  findSubject: (userId: string) => Promise<{ subject: string | null }>
  onChange: (changes: Filters<Name>) => void
  children: ComponentChildren
}) {
  const { filters, names, findSubject, onChange } = props
  const { problem, run } = useAction()
  const change = (pick: (name: Name | (typeof COMMON)[number]) => string) =>
    onChange(Object.fromEntries([...COMMON, ...names].map((name) => [name, pick(name)])) as Filters<Name>)
  const apply = ({ text }: Given) =>
    run(async () => {
      const userId = text('user')
      // The user id goes in a body: addresses end up in histories and logs.
      const subject = userId ? ((await findSubject(userId)).subject ?? NOBODY) : filters.subject
      change((name) => {
        if (name === 'subject') return subject
        if ((name === 'from' || name === 'until') && text(name)) return new Date(text(name)).toISOString()
        return text(name)
      })
    })
  const time = { class: 'when', type: 'datetime-local', step: '1' }
  return (
    <form class="filters" onSubmit={sending(apply)}>
      <Field
        id="id"
        class="when"
        label="Request or verification id"
        autocomplete="off"
        maxLength={128}
        placeholder={props.idHint}
        defaultValue={filters.id}
      />
      <Field
        id="user"
        label="User id"
        autocomplete="off"
        maxLength={128}
        placeholder={filters.subject && filters.subject !== NOBODY ? 'one user is chosen' : ''}
      />
      {props.children}
      <Field id="from" label={`From (${timeZone()})`} defaultValue={localTime(filters.from)} {...time} />
      <Field id="until" label={`Until (${timeZone()})`} defaultValue={localTime(filters.until)} {...time} />
      <div class="buttons">
        <Button text="Apply" type="submit" class="primary" />
        <Button text="Clear" onClick={() => change(() => '')} />
      </div>
      <Problem message={problem} />
    </form>
  )
}

/** The entries of a log, each of which opens. @param props.about what a row is, for screen readers */
export function LogTable<Row>({
  about,
  details,
  ...table
}: TableProps<Row> & { about: (row: Row) => string; details: (row: Row) => ComponentChildren }) {
  const { keyOf, columns } = table
  const [open, setOpen] = useState<string | number | null>(null)
  const more = (row: Row) => (
    <MoreButton
      about={about(row)}
      isOpen={keyOf(row) === open}
      onToggle={() => setOpen(keyOf(row) === open ? null : keyOf(row))}
    />
  )
  return (
    <Table
      {...table}
      isLog
      columns={[...columns, { name: 'Details', isSilent: true, cell: more }]}
      below={(row) => keyOf(row) === open && details(row)}
    />
  )
}

/** The buttons to newer and older entries; nothing where all entries stand on one page. */
export function PagerButtons(props: {
  entries: 'requests' | 'entries' | 'deliveries'
  pager: ReturnType<typeof usePager>
  /** Where this page and the next older one begin; empty or null for none. */
  before: string
  next: string | number | null | undefined
}) {
  const { entries, pager, before, next } = props
  if (!next && !before) return null
  return (
    <div class="pager">
      <Button text={`Newer ${entries}`} disabled={!before} onClick={pager.newer} />
      <Button text={`Older ${entries}`} disabled={!next} onClick={() => pager.older(String(next))} />
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

/** A verdict, with its color. */
export function VerdictBadge({ verdict }: { verdict: string }) {
  return <Badge tone={verdict === 'approved' ? 'good' : 'bad'}>{verdict}</Badge>
}
