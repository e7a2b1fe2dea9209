/** The audit log: the state of its chain, its entries newest first, and files of it. */
import { useEffect, useState } from 'preact/hooks'
import { get } from './api.js'
import { Badge, Card, Loading, Problem, Time } from './parts.js'
import { useData } from './use-data.js'

const EVENTS = [
  'enroll',
  'verify',
  'delete',
  'rotate_signing',
  'key_revealed',
  'key_revoked',
  'key_reissued',
  'contract_changed',
]

interface Entry {
  sequence: number
  at: string
  event: string
  actor: string
  status?: number
  code?: string
  subject?: string
  verdict?: string
  hash: string
}
interface Page {
  entries: Entry[]
  next_before: number | null
}

export function AuditPage({ tenantId }: { tenantId: string }) {
  const path = `/tenants/${tenantId}/audit`
  const [event, setEvent] = useState('')
  const [entries, setEntries] = useState<Entry[] | null>(null)
  const [next, setNext] = useState<number | null>(null)
  const [problem, setProblem] = useState<string | null>(null)
  const chain = useData<{ entries: number; broken_at: number | null }>(`${path}/chain`)
  const load = (before: number | null) =>
    get<Page>(`${path}?event=${event}${before ? `&before=${before}` : ''}`).then(
      (page) => {
        setEntries((shown) => (before ? [...(shown ?? []), ...page.entries] : page.entries))
        setNext(page.next_before)
      },
      (error: Error) => setProblem(error.message),
    )
  useEffect(() => void load(null), [path, event])
  const exportUrl = (format: string) => `/api${path}/export?format=${format}&event=${event}`
  return (
    <>
      <Problem message={problem ?? chain.error} />
      <Card
        title="Chain"
        actions={
          <button type="button" onClick={chain.reload}>
            Check again
          </button>
        }
      >
        {chain.value === null ? (
          <Loading />
        ) : chain.value.broken_at === null ? (
          <p>
            <Badge tone="good">intact</Badge> {chain.value.entries} entries, each bound to the one before.
          </p>
        ) : (
          <p>
            <Badge tone="bad">broken</Badge> The chain does not fit from entry {chain.value.broken_at} on.
          </p>
        )}
      </Card>
      <Card
        title="Entries"
        actions={
          <>
            <label class="inline">
              Event{' '}
              <select value={event} onChange={(change) => setEvent(change.currentTarget.value)}>
                <option value="">all</option>
                {EVENTS.map((name) => (
                  <option key={name}>{name}</option>
                ))}
              </select>
            </label>
            <a class="button" href={exportUrl('csv')}>
              CSV
            </a>
            <a class="button" href={exportUrl('jsonl')}>
              JSON Lines
            </a>
          </>
        }
      >
        {entries === null ? (
          <Loading />
        ) : entries.length === 0 ? (
          <p class="muted">No entries. Production calls write to the audit log; the sandbox does not.</p>
        ) : (
          <section class="wide" tabIndex={0} aria-label="Audit entries">
            <table>
              <thead>
                <tr>
                  <th>#</th>
                  <th>Time</th>
                  <th>Event</th>
                  <th>Outcome</th>
                  <th>User (pseudonym)</th>
                  <th>Actor</th>
                </tr>
              </thead>
              <tbody>
                {entries.map((entry) => (
                  <tr key={entry.sequence}>
                    <td>{entry.sequence}</td>
                    <td>
                      <Time at={entry.at} />
                    </td>
                    <td>{entry.event}</td>
                    <td>{[entry.status, entry.verdict ?? entry.code].filter(Boolean).join(' ')}</td>
                    <td>
                      <code title={entry.subject}>{entry.subject?.slice(0, 12) ?? '–'}</code>
                    </td>
                    <td>
                      <code title={entry.actor}>
                        {entry.actor.length > 20 ? `…${entry.actor.slice(-8)}` : entry.actor}
                      </code>
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </section>
        )}
        {next !== null && (
          <button type="button" onClick={() => load(next)}>
            Older entries
          </button>
        )}
      </Card>
    </>
  )
}
