/** The page of a tenant's webhooks and their deliveries. Only the operator can add a webhook. */
import type { Environment, WebhookView } from '../../contract.js'
import { callTenant, tenantAddress } from '../base/api.js'
import { useAction, useData } from '../base/data.js'
import { Button, Checks, Choice, Field } from '../base/form.js'
import { AddCard, Badge, Card, Empty, Problem, useQuestion, Waiting } from '../base/parts.js'
import { useRights } from '../base/session.js'
import { Table } from '../base/table.js'
import { Time } from '../base/times.js'
import { DeliveriesCard } from '../cards/deliveries-card.js'
import { WebhookTest } from '../cards/webhook-test.js'

const REFRESH_MS = 5000

export function WebhooksPage({ tenantId }: { tenantId: string }) {
  const may = useRights().tenant
  const list = useData(tenantAddress(tenantId, 'GET /webhooks'), REFRESH_MS)
  const [ask, dialog] = useQuestion()
  const { problem, run } = useAction(list.reload)
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
      onConfirm: () => run(() => callTenant(tenantId, 'POST /webhooks/remove', { webhook: id })),
    })
  return (
    <>
      <Problem message={problem ?? list.error} />
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
              autocomplete="off"
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
      {dialog}
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

/** Shows whether the endpoint accepts deliveries, and since when. */
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
