/** The parts that the request log and the audit log share: filters, a table whose rows open, and the way from page to page. */
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { localTime, useAddressQuery, usePager } from './base/address-query.js'
import { type Data, useAction } from './base/data.js'
import { Button, Field, type Given, sending } from './base/form.js'
import { Badge, Empty, Loaded, Problem } from './base/parts.js'
import { Table, type TableProps } from './base/table.js'
import { timeZone } from './base/times.js'

/** Stands in the address instead of the pseudonym of a user whom the log cannot name. */
export const NOBODY = 'nobody'
/** Precedes the values of a filter with a few. */
export const ALL = ['', 'all'] as const

const FIELDS = ['id', 'subject', 'from', 'until'] as const

/** The filters of a log, which its address holds, and the way from page to page. @param own names of the filters that only this log has */
export function useLog<const Own extends string>(own: readonly Own[]) {
  const names = [...FIELDS, ...own]
  const [filters, change] = useAddressQuery([...names, 'before'])
  const apply = (changes: Record<string, string>) => change({ ...changes, before: '' })
  return { names: names as string[], filters, apply, pager: usePager(change) }
}
type Log = ReturnType<typeof useLog<never>>

/** The filters of a log. The fields that only one of the pages has are its children, and have the names of the filters. */
export function FilterForm(props: {
  log: Log
  idHint?: string
  findSubject: (userId: string) => Promise<{ subject: string | null }>
  children: ComponentChildren
}) {
  const { filters, names, apply: show } = props.log
  const { problem, run } = useAction()
  const change = (pick: (name: string) => string) =>
    show(Object.fromEntries(names.map((name) => [name, pick(name)])))
  const apply = ({ text }: Given) =>
    run(async () => {
      const userId = text('user')
      // The user id goes in a body: addresses end up in histories and logs.
      const subject = userId ? ((await props.findSubject(userId)).subject ?? NOBODY) : filters.subject
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
        maxLength={128}
        placeholder={props.idHint}
        defaultValue={filters.id}
      />
      <Field
        id="user"
        label="User id"
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

interface LogProps<Answer, Row> extends Omit<TableProps<Row>, 'rows'> {
  log: Log
  data: Data<Answer>
  rowsIn: (answer: Answer) => Row[]
  keyOf: (row: Row) => string | number
  /** Names a row for screen readers. */
  about: (row: Row) => string
  details: (row: Row) => ComponentChildren
  entries: 'requests' | 'entries'
  /** Says why a user id finds nobody. */
  unknownUser: string
  /** Shown when no entry matches the filters, and when there is none without any. */
  noMatch: ComponentChildren
  empty: ComponentChildren
}

/** A page of a log with the entries that its filters let through, each of which opens. */
export function LogTable<Answer extends { next_before: Before }, Row>({
  log: { filters, pager },
  data,
  rowsIn,
  about,
  details,
  entries,
  unknownUser,
  noMatch,
  ...table
}: LogProps<Answer, Row>) {
  const { keyOf, columns } = table
  const [open, setOpen] = useState<string | number | null>(null)
  const more = (row: Row) => (
    <MoreButton
      about={about(row)}
      isOpen={keyOf(row) === open}
      onToggle={() => setOpen(keyOf(row) === open ? null : keyOf(row))}
    />
  )
  const nothing = (isEnd: boolean) => {
    if (filters.subject === NOBODY) return <Empty title="No such user">{unknownUser}</Empty>
    if (isEnd) return Object.values(filters).some(Boolean) ? noMatch : table.empty
    return (
      <Empty title="Nothing matches in this part of the log">Choose “Older {entries}” to continue.</Empty>
    )
  }
  return (
    <>
      <Loaded data={data}>
        {(answer) => (
          <Table
            {...table}
            kind="log"
            rows={filters.subject === NOBODY ? [] : rowsIn(answer)}
            columns={[...columns, { name: 'Details', isSilent: true, cell: more }]}
            below={(row) => keyOf(row) === open && details(row)}
            empty={nothing(!answer.next_before)}
          />
        )}
      </Loaded>
      <PagerButtons entries={entries} pager={pager} before={filters.before} next={data.value?.next_before} />
    </>
  )
}

/** Where the next older page begins, if there is one. */
type Before = string | number | null | undefined

/** The buttons to newer and older entries; nothing where all entries stand on one page. */
export function PagerButtons(props: {
  entries: 'requests' | 'entries' | 'deliveries'
  pager: ReturnType<typeof usePager>
  /** Where this page begins; empty for the newest. */
  before: string
  next: Before
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

export function VerdictBadge({ verdict }: { verdict: string }) {
  return <Badge tone={verdict === 'approved' ? 'good' : 'bad'}>{verdict}</Badge>
}
