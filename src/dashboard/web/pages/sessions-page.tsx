/** The pages that list the sessions of the dashboard, with their times and addresses, and that end any of them. */
import type { ListedSession, SessionList } from '../../contract.js'
import { type Address, callOperator, callTenant, operatorAddress, tenantAddress } from '../base/api.js'
import { useData } from '../base/data.js'
import { Button } from '../base/form.js'
import { Badge, Card, Empty, Loaded, useActions } from '../base/parts.js'
import { useRights, useSession } from '../base/session.js'
import { Table } from '../base/table.js'
import { Time } from '../base/times.js'

const METHODS = { link: 'by link', password: 'by password', oidc: 'by SSO' }
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
  const { isBusy, ask, feedback } = useActions(list.reload)
  const end = (session: ListedSession) =>
    ask({
      title: session.is_own ? 'End your own session?' : `End the session of ${whose(session)}?`,
      confirm: 'End',
      isDanger: true,
      children: 'The next click in that session leads to the sign-in page.',
      act: () => props.onEnd(session.id),
    })
  const endAll = () =>
    ask({
      title: 'End every session of this tenant?',
      confirm: 'End all',
      isDanger: true,
      children: 'Unused login links stop working too. A new link signs in again.',
      act: props.onEndAll!,
    })
  return (
    <>
      {feedback}
      <Card
        title="Open sessions"
        hint={props.hint}
        actions={
          props.onEndAll && <Button text="End all…" class="danger" disabled={isBusy} onClick={endAll} />
        }
      >
        <Loaded data={list}>
          {({ sessions }) => (
            <Table
              label="Sessions"
              rows={sessions}
              keyOf={({ id }) => id}
              columns={[
                {
                  name: 'Who',
                  isText: true,
                  cell: (session) => (
                    <span>
                      {whose(session)} {session.is_own && <Badge tone="good">this one</Badge>}
                    </span>
                  ),
                },
                {
                  name: 'Since',
                  isText: true,
                  cell: ({ created_at, method }) => (
                    <span>
                      <Time at={created_at} none="before an upgrade" /> {method && METHODS[method]}
                    </span>
                  ),
                },
                { name: 'Last used', cell: ({ last_used_at }) => <Time at={last_used_at} /> },
                { name: 'Address', cell: ({ address }) => (address ? <code>{address}</code> : '–') },
                {
                  name: 'Browser',
                  isText: true,
                  cell: ({ browser }) => <span title={browser ?? undefined}>{browserName(browser)}</span>,
                },
              ]}
              actions={(session) =>
                props.mayEnd(session) && (
                  <Button
                    text="End…"
                    about={`the session of ${whose(session)} from ${session.address}`}
                    class="danger"
                    disabled={isBusy}
                    onClick={() => end(session)}
                  />
                )
              }
              empty={<Empty title="Nobody is signed in" />}
            />
          )}
        </Loaded>
      </Card>
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
