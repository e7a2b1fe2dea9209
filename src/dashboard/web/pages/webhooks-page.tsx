/** The page of a tenant's webhooks and their deliveries. Only the operator can add a webhook. */
import { useState } from 'preact/hooks'
import type { DeliveryView, Environment, WebhookView } from '../../contract.js'
import { callTenant, get, tenantAddress } from '../base/api.js'
import { useAction, useData } from '../base/data.js'
import { Button, Checks, Choice, Field } from '../base/form.js'
import { AddCard, Badge, Card, Empty, useActions, Waiting } from '../base/parts.js'
import { useRights } from '../base/session.js'
import { Table } from '../base/table.js'
import { Time } from '../base/times.js'
import { DeliveriesCard } from '../cards/deliveries-card.js'

const REFRESH_MS = 5000
const ASK_AGAIN_MS = 500
/** Longest wait for the result: an endpoint has 10 s to answer, and the service looks for due deliveries every second. */
const MAX_WAIT_MS = 15_000

type Result = DeliveryView | 'waits' | null

export function WebhooksPage({ tenantId }: { tenantId: string }) {
  const may = useRights().tenant
  const list = useData(tenantAddress(tenantId, 'GET /webhooks'), REFRESH_MS)
  const { ask, feedback } = useActions(list.reload, list)
  if (!list.value) return <Waiting data={list} />
  const { webhooks, is_held, max_webhooks, event_types } = list.value
  const remove = ({ id, url, waiting }: WebhookView) =>
    ask({
      title: 'Remove this webhook?',
      confirm: 'Remove',
      isDanger: true,
      children: (
        <p>
          <code>{url}</code> will receive no more events, and its deliveries are deleted
          {waiting > 0 && `, including ${waiting.toLocaleString()} that are waiting`}.
        </p>
      ),
      act: () => callTenant(tenantId, 'POST /webhooks/remove', { webhook: id }),
    })
  return (
    <>
      {feedback}
      {is_held && (
        <p>
          <Badge tone="warn">held back</Badge> The tenant is suspended. Waiting deliveries are sent when it is
          resumed.
        </p>
      )}
      <Card
        title="Endpoints"
        hint="Deliveries are signed with the tenant's signing secret, like every response: you need no other secret."
      >
        <Table
          label="Webhooks"
          rows={webhooks}
          keyOf={({ id }) => id}
          columns={[
            { name: 'Address', isText: true, cell: ({ id, url }) => <code title={id}>{url}</code> },
            { name: 'Environment', cell: ({ environment }) => environment },
            { name: 'Events', isText: true, cell: ({ events }) => events.join(', ') || 'all' },
            { name: 'Waiting', isNumber: true, cell: (webhook) => <WaitingCount {...webhook} /> },
            { name: 'Added', cell: ({ created_at }) => <Time at={created_at} day /> },
          ]}
          actions={(webhook) =>
            may('POST /webhooks/remove') && (
              <Button text="Remove" about={webhook.url} class="danger" onClick={() => remove(webhook)} />
            )
          }
          below={(webhook) => (
            <div class="toolbar">
              <Health webhook={webhook} />
              {may('POST /webhooks/test') && (
                <WebhookTest tenantId={tenantId} webhook={webhook} onTried={list.reload} />
              )}
            </div>
          )}
          empty={
            <Empty title="No webhooks yet">
              {may('POST /webhooks')
                ? 'The service sends enrollments, lockouts and erasures to your backend. Add its address below.'
                : 'The operator of this service adds the address of your backend that receives the events.'}
            </Empty>
          }
        />
      </Card>
      {may('POST /webhooks') && webhooks.length < max_webhooks && (
        <AddCard
          title="New webhook"
          hint="The address must begin with https. http is allowed only for this machine. Redirects are not followed."
          add={async (given) => {
            await callTenant(tenantId, 'POST /webhooks', {
              url: given.text('url'),
              environment: given.text<Environment>('environment'),
              events: given.checked('event'),
            })
            list.reload()
          }}
        >
          <div class="fields">
            <Field
              id="url"
              class="twice"
              label="Address"
              type="url"
              required
              maxLength={2048}
              placeholder="https://app.example.com/countersign"
            />
            <Choice id="environment" label="Environment" options={['production', 'sandbox']} />
          </div>
          <Checks
            name="event"
            legend="Events (leave all unchecked to receive every event)"
            options={event_types.map((type) => [type, <code key={type}>{type}</code>])}
          />
        </AddCard>
      )}
      <DeliveriesCard tenantId={tenantId} webhooks={webhooks} onChange={list.reload} />
    </>
  )
}

function WaitingCount({ waiting, dropped }: WebhookView) {
  return (
    <span>
      {waiting.toLocaleString()}
      {dropped > 0 && <Badge tone="bad">{dropped.toLocaleString()} dropped</Badge>}
    </span>
  )
}

function Health({ webhook }: { webhook: WebhookView }) {
  const { health, failures, last_success_at, last_failure_at, last_failure } = webhook
  if (health === 'untried') return <Badge tone="plain">nothing sent yet</Badge>
  const tries = failures === 1 ? 'The last try' : `The last ${failures.toLocaleString()} tries`
  return (
    <span>
      {health === 'working' ? <Badge tone="good">working</Badge> : <Badge tone="bad">failing</Badge>}{' '}
      <span class="muted small">
        {health === 'failing' && (
          <>
            {tries} failed: {last_failure}
            {last_failure_at && ', '}
            <Time at={last_failure_at} none="" />.{' '}
          </>
        )}
        {last_success_at && 'Last success: '}
        <Time at={last_success_at} none="No delivery has succeeded yet." />
      </span>
    </span>
  )
}

/** The button that sends a test to a webhook, and the result next to it. */
function WebhookTest(props: { tenantId: string; webhook: WebhookView; onTried: () => void }) {
  const { tenantId, webhook, onTried } = props
  const { problem, isBusy, run } = useAction()
  const [result, setResult] = useState<Result>(null)
  const test = () =>
    run(async () => {
      setResult(null)
      const { delivery } = await callTenant(tenantId, 'POST /webhooks/test', { webhook: webhook.id })
      setResult((await outcomeOf(tenantId, delivery)) ?? 'waits')
      onTried()
    })
  return (
    <>
      <Button text="Test" about={webhook.url} aria-disabled={isBusy} onClick={() => isBusy || void test()} />
      <span class="small" role="status">
        {isBusy ? 'Sending…' : problem ? <Badge tone="bad">{problem}</Badge> : <Outcome result={result} />}
      </span>
    </>
  )
}

function Outcome({ result }: { result: Result }) {
  if (result === null) return null
  if (result === 'waits')
    return <Badge tone="warn">Earlier deliveries are sent first. See the deliveries below.</Badge>
  const isAccepted = result.status === 'delivered'
  return (
    <Badge tone={isAccepted ? 'good' : 'bad'}>
      The endpoint {isAccepted ? 'accepted' : 'did not accept'} the test: {result.last_outcome}
    </Badge>
  )
}

/** @returns null when the test was not sent in time because older deliveries to the endpoint come first */
async function outcomeOf(tenantId: string, id: string): Promise<DeliveryView | null> {
  for (const end = performance.now() + MAX_WAIT_MS; performance.now() < end; ) {
    await new Promise((resolve) => setTimeout(resolve, ASK_AGAIN_MS))
    const { deliveries } = await get(tenantAddress(tenantId, 'GET /webhooks/deliveries', {}))
    const delivery = deliveries.find((one) => one.id === id)
    if (delivery?.last_outcome) return delivery
  }
  return null
}
