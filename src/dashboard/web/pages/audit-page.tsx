/** The page of the audit log: the state of its chain, its entries, newest first, and exports. */
import { AUDIT_EVENTS, type AuditEventName } from '../../../audit/audit-events.js'
import { AUDIT_OUTCOMES, type AuditEntry, type AuditPageQuery } from '../../lib/audit-contract.js'
import { callTenant, linkTo, tenantAddress } from '../base/api.js'
import { useData } from '../base/data.js'
import { Button, Choice } from '../base/form.js'
import { Badge, Card, Empty, entryCount, Loaded, Loading, type Tone } from '../base/parts.js'
import { useRights } from '../base/session.js'
import { Time } from '../base/times.js'
import { EntryInWords } from '../entry-in-words.js'
import { ALL, FilterForm, LogTable, NOBODY, Pseudonym, useLog, VerdictBadge } from '../log-parts.js'

/** The page's names for events that their own words would not tell. */
const TEXTS: Partial<Record<AuditEventName, string>> = {
  enroll: 'Enrollment',
  verify: 'Verification',
  delete: 'Erasure',
  rotate_signing: 'Secret rotated',
  key_revoked: 'Keys revoked',
  erasure_scheduled: 'Erasure announced',
  models_changed: 'Model pack changed',
  drift_restarted: 'Drift compared from here on',
  capture_consented: 'Consent given',
  capture_code_failed: 'Wrong codes at a capture link',
  capture_number_failed: 'Wrong numbers after a capture on a phone',
  capture_disowned: 'Begun by somebody else, said the person',
  ageing_undone: 'References restored as enrolled',
  user_exported: 'Facts exported',
  users_compared: 'Users compared to measure the false match rate',
  passkey_recovery_cancelled: 'Recovery of a passkey cancelled',
  openid_client_added: 'OpenID application added',
  openid_client_removed: 'OpenID application removed',
  openid_refused: 'OpenID request refused',
  openid_key_rotated: 'OpenID key rotated',
  working_keys_changed: 'Master key changed',
  audit_break_found: 'Log was changed from outside',
  operator_password_chosen: 'Operator chose a password',
  person_password_reset: 'Person invited again',
  person_password_chosen: 'Person chose a password',
  sign_in_failed: 'Sign-ins refused',
}
const textOf = (event: AuditEventName) =>
  TEXTS[event] ?? (event[0]!.toUpperCase() + event.slice(1)).replaceAll('_', ' ')
const EVENTS = [ALL, ...AUDIT_EVENTS.map((name) => [name, textOf(name)] as const)]
/** Events about a user, besides those whose names begin with the word. */
const OF_USER: readonly AuditEventName[] = [
  ...(['enroll', 'verify', 'delete', 'erasure_scheduled', 'capture_consented', 'capture_disowned'] as const),
  ...(['ageing_undone', 'passkey_registered', 'consent_recorded', 'passkey_revoked'] as const),
  ...(['passkey_recovery_cancelled', 'openid_refused'] as const),
]

export function AuditPage({ tenantId }: { tenantId: string }) {
  const log = useLog(['event', 'outcome'])
  const { filters } = log
  const query = filters as typeof filters & AuditPageQuery
  const page = useData(tenantAddress(tenantId, 'GET /audit', query))
  const keys = useData(tenantAddress(tenantId, 'GET /'))
  const actorName = (actor: string) => {
    const key = keys.value?.keys.find(({ id }) => id === actor)
    return key ? `${key.type} key …${key.hint}` : actor
  }
  const exportUrl = (format: 'csv' | 'jsonl') =>
    linkTo(tenantAddress(tenantId, 'GET /audit/export', { format, ...query }))
  return (
    <>
      <ChainCard tenantId={tenantId} />
      <Card
        title="Entries"
        hint="Users appear as pseudonyms. After erasure they cannot be linked to a person."
        actions={
          filters.subject !== NOBODY && (
            <>
              <a class="button" href={exportUrl('csv')}>
                Export CSV
              </a>
              <a class="button" href={exportUrl('jsonl')}>
                Export JSON Lines
              </a>
            </>
          )
        }
      >
        <FilterForm
          key={JSON.stringify(log.filters)}
          log={log}
          findSubject={(user_id) => callTenant(tenantId, 'POST /audit/subject', { user_id })}
        >
          <Choice id="event" label="Event" options={EVENTS} initial={filters.event} />
          <Choice id="outcome" label="Outcome" options={[ALL, ...AUDIT_OUTCOMES]} initial={filters.outcome} />
        </FilterForm>
        <LogTable
          label="Audit entries"
          log={log}
          data={page}
          rowsIn={({ entries }) => entries}
          entries="entries"
          keyOf={({ sequence }) => sequence}
          columns={[
            { name: '#', isNumber: true, cell: ({ sequence }) => sequence },
            { name: 'Time', cell: ({ at }) => <Time at={at} /> },
            { name: 'Event', cell: ({ event }) => textOf(event) },
            { name: 'Outcome', cell: (entry) => <Outcome entry={entry} /> },
            { name: 'Score', isNumber: true, cell: ({ score }) => score?.toFixed(3) },
            {
              name: 'User',
              cell: (entry) => <Pseudonym subject={entry.subject} whyNone={whyNoUser(entry)} />,
            },
            { name: 'Actor', cell: ({ actor }) => actorName(actor) },
          ]}
          about={({ sequence }) => `entry ${sequence}`}
          details={(entry) => <Details tenantId={tenantId} entry={entry} />}
          unknownUser="Unknown, or erased: entries about an erased user can no longer be found by the user id."
          noMatch={<Empty title="Nothing matches these filters" />}
          empty={
            <Empty title="No entries yet">
              Calls in production write to the audit log; the sandbox does not.
            </Empty>
          }
        />
      </Card>
    </>
  )
}

function ChainCard({ tenantId }: { tenantId: string }) {
  const chain = useData(tenantAddress(tenantId, 'GET /audit/chain'))
  return (
    <Card title="Chain" actions={<Button text="Check again" onClick={chain.reload} />}>
      <Loaded data={chain}>
        {({ entries, broken_at }) =>
          broken_at === null ? (
            <p>
              <Badge tone="good">intact</Badge>{' '}
              {entries === 0
                ? 'No entries yet.'
                : `${entryCount(entries)}. Each entry is bound to the one before it, and the last one is sealed.`}
            </p>
          ) : (
            <p>
              <Badge tone="bad">broken</Badge> The log was changed from outside: the chain is broken from
              entry {broken_at}.
            </p>
          )
        }
      </Loaded>
    </Card>
  )
}

function Details({ tenantId, entry }: { tenantId: string; entry: AuditEntry }) {
  const mayReadText = useRights().tenant('GET /audit/consent-text')
  return (
    <>
      <EntryInWords tenantId={tenantId} facts={entry} />
      <pre tabIndex={0}>{JSON.stringify(entry, null, 2)}</pre>
      {typeof entry.consent_sha256 === 'string' && mayReadText && (
        <AgreedText tenantId={tenantId} sha256={entry.consent_sha256} />
      )}
    </>
  )
}

function AgreedText({ tenantId, sha256 }: { tenantId: string; sha256: string }) {
  const { value, error } = useData(tenantAddress(tenantId, 'GET /audit/consent-text', { sha256 }))
  if (value === null) return error ? <p class="muted">{error}</p> : <Loading />
  return (
    <>
      <p>The person agreed to this text:</p>
      <pre tabIndex={0} dir="auto">
        {value.texts[0]?.text}
      </pre>
    </>
  )
}

function whyNoUser({ event, code }: AuditEntry): string {
  if (!event.startsWith('user_') && !OF_USER.includes(event)) return 'Not about a user'
  if (code === 'reference_not_found') return 'No user of that id existed'
  return code ? 'No user of that id was enrolled' : 'The user was erased before'
}

function Outcome({ entry: { verdict, reason, code, status } }: { entry: AuditEntry }) {
  if (verdict)
    return (
      <span>
        <VerdictBadge verdict={verdict} />
        {reason && <span class="muted small"> {reason}</span>}
      </span>
    )
  const tone: Tone = code ? 'warn' : 'plain'
  return <Badge tone={tone}>{code ?? (status ? `done (status ${status})` : 'done')}</Badge>
}
