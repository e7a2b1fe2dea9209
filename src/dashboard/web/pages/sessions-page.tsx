/** The pages that list the sessions of the dashboard, with their times and addresses, and that end any of them. */
import { useState } from 'preact/hooks'
import type { ListedSession, SessionList } from '../../contract.js'
import { type Address, callOperator, callTenant, operatorAddress, tenantAddress } from '../base/api.js'
import { Button } from '../base/form.js'
import { Badge, Card, Confirm, Empty, Problem, Waiting } from '../base/parts.js'
import { useRights, useSession } from '../base/session.js'
import { Table } from '../base/table.js'
import { Time } from '../base/times.js'
import { useAction } from '../base/use-action.js'
import { useData } from '../base/use-data.js'

const METHODS = { link: 'by link', password: 'by password', oidc: 'by SSO' }
const COLUMNS = [
  { name: 'Who', isText: true },
  { name: 'Since', isText: true },
  { name: 'Last used' },
  { name: 'Address' },
  { name: 'Browser', isText: true },
  { name: 'Actions', isSilent: true },
]

/** The page of the sessions of all operators and tenants. */
export function SessionsPage() {
  const may = useRights().operator
  const self = useSession().person
  return (
    <Sessions
      address={operatorAddress('GET /sessions')}
      hint="Sessions of operators and tenants. An unused session ends after some time, and every session ends some hours after the sign-in."
      mayEnd={({ operator }) =>
        may('POST /operators/sign-out') || (operator !== null && operator === self.name)
      }
      onEnd={(session) => callOperator('POST /sessions/end', { session })}
    />
  )
}

/** The page of the sessions of one tenant. */
export function TenantSessionsPage({ tenantId }: { tenantId: string }) {
  const may = useRights().tenant('POST /sessions/end')
  return (
    <Sessions
      address={tenantAddress(tenantId, 'GET /sessions')}
      hint="Everybody who is signed in for this tenant. An unused session ends automatically."
      mayEnd={() => may}
      onEnd={(session) => callTenant(tenantId, 'POST /sessions/end', { session })}
      {...(may && { onEndAll: () => callTenant(tenantId, 'POST /sign-out') })}
    />
  )
}

function Sessions(props: {
  address: Address<SessionList>
  hint: string
  mayEnd: (session: ListedSession) => boolean
  onEnd: (session: string) => Promise<unknown>
  onEndAll?: () => Promise<unknown>
}) {
  const list = useData(props.address)
  const [asking, setAsking] = useState<ListedSession | 'all' | null>(null)
  const { problem, isBusy, run } = useAction()
  const end = (work: () => Promise<unknown>) =>
    void run(async () => {
      try {
        await work()
      } finally {
        list.reload()
      }
    })
  const sessions = list.value?.sessions
  return (
    <>
      <Problem message={problem ?? (list.value && list.error)} />
      <Card
        title="Open sessions"
        hint={props.hint}
        actions={
          props.onEndAll && (
            <Button text="End all…" class="danger" disabled={isBusy} onClick={() => setAsking('all')} />
          )
        }
      >
        {!sessions ? (
          <Waiting data={list} />
        ) : sessions.length === 0 ? (
          <Empty title="Nobody is signed in" />
        ) : (
          <Table
            label="Sessions"
            columns={COLUMNS}
            rows={sessions.map((session) => ({
              key: session.id,
              cells: [
                <span>
                  {whose(session)} {session.is_own && <Badge tone="good">this one</Badge>}
                </span>,
                <span>
                  {session.created_at ? <Time at={session.created_at} /> : 'before an upgrade'}{' '}
                  {session.method && METHODS[session.method]}
                </span>,
                session.last_used_at ? <Time at={session.last_used_at} /> : '–',
                session.address ? <code>{session.address}</code> : '–',
                <span title={session.browser ?? undefined}>{browserName(session.browser)}</span>,
                props.mayEnd(session) && (
                  <Button
                    text="End…"
                    about={`the session of ${whose(session)} from ${session.address}`}
                    class="danger"
                    disabled={isBusy}
                    onClick={() => setAsking(session)}
                  />
                ),
              ],
            }))}
          />
        )}
      </Card>
      {asking === 'all' && (
        <Confirm
          title="End every session of this tenant?"
          confirm="End all"
          isDanger
          onClose={() => setAsking(null)}
          onConfirm={() => end(props.onEndAll!)}
        >
          <p>Unused login links stop working too. A new link signs in again.</p>
        </Confirm>
      )}
      {asking !== null && asking !== 'all' && (
        <Confirm
          title={asking.is_own ? 'End your own session?' : `End the session of ${whose(asking)}?`}
          confirm="End"
          isDanger
          onClose={() => setAsking(null)}
          onConfirm={() => end(() => props.onEnd(asking.id))}
        >
          <p>The next click in that session leads to the sign-in page.</p>
        </Confirm>
      )}
    </>
  )
}

function whose({ operator, tenant, person }: ListedSession): string {
  if (operator !== null) return operator
  return person === null ? `tenant ${tenant}` : `${person} of ${tenant}`
}

const BROWSERS: ReadonlyArray<readonly [RegExp, string]> = [
  [/\bEdg\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\bFirefox\//, 'Firefox'],
  [/\b(?:Headless)?Chrome\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
]
const SYSTEMS: ReadonlyArray<readonly [RegExp, string]> = [
  [/\bAndroid\b/, 'Android'],
  [/\biPhone|iPad\b/, 'iOS'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b/, 'macOS'],
  [/\bLinux\b/, 'Linux'],
]

/** Returns the browser and system in a few words, from the header User-Agent. The tooltip shows the whole header. */
function browserName(agent: string | null): string {
  if (agent === null) return '–'
  const named = (list: typeof BROWSERS) => list.find(([pattern]) => pattern.test(agent))?.[1]
  const [browser, system] = [named(BROWSERS), named(SYSTEMS)]
  return browser ? (system ? `${browser} on ${system}` : browser) : agent.slice(0, 40)
}
