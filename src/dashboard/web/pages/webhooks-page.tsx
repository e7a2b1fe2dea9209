/** The page of a tenant's webhooks and their deliveries. Only the operator can add a webhook. */
import { useState } from 'preact/hooks'
import type { Environment, WebhookList, WebhookView } from '../../contract.js'
import { callTenant, tenantAddress } from '../base/api.js'
import { Button, Choice, sending } from '../base/form.js'
import { Badge, Card, Confirm, Empty, Problem, Waiting } from '../base/parts.js'
import { useRights } from '../base/session.js'
import { Table } from '../base/table.js'
import { Time } from '../base/times.js'
import { useAction } from '../base/use-action.js'
import { useData } from '../base/use-data.js'
import { DeliveriesCard } from '../cards/deliveries-card.js'
import { WebhookTest } from '../cards/webhook-test.js'

const REFRESH_MS = 5000
const COLUMNS = [
  { name: 'Address', isText: true },
  { name: 'Environment' },
  { name: 'Events', isText: true },
  { name: 'Waiting', isNumber: true },
  { name: 'Added' },
  { name: 'Actions', isSilent: true },
]

export function WebhooksPage({ tenantId }: { tenantId: string }) {
  const may = useRights().tenant
  const list = useData(tenantAddress(tenantId, 'GET /webhooks'), REFRESH_MS)
  const [removing, setRemoving] = useState<WebhookView | null>(null)
  const { problem, run } = useAction()
  if (!list.value) return <Waiting data={list} />
  const { webhooks, is_held, max_webhooks } = list.value
  const change = (work: () => Promise<unknown>) =>
    run(async () => {
      await work()
      list.reload()
    })
  const remove = ({ id }: WebhookView) =>
    change(() => callTenant(tenantId, 'POST /webhooks/remove', { webhook: id }))
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
        {webhooks.length === 0 ? (
          <Empty title="No webhooks yet">
            {may('POST /webhooks')
              ? 'The service sends enrollments, lockouts and erasures to your backend. Add its address below.'
              : 'The operator of this service adds the address of your backend that receives the events.'}
          </Empty>
        ) : (
          <Table
            label="Webhooks"
            columns={COLUMNS}
            rows={webhooks.map((webhook) => ({
              key: webhook.id,
              cells: [
                <code title={webhook.id}>{webhook.url}</code>,
                webhook.environment,
                webhook.events.join(', ') || 'all',
                <span>
                  {webhook.waiting.toLocaleString()}
                  {webhook.dropped > 0 && (
                    <Badge tone="bad">{webhook.dropped.toLocaleString()} dropped</Badge>
                  )}
                </span>,
                <Time at={webhook.created_at} day />,
                <span class="buttons">
                  {may('POST /webhooks/remove') && (
                    <Button
                      text="Remove"
                      about={webhook.url}
                      class="danger"
                      onClick={() => setRemoving(webhook)}
                    />
                  )}
                </span>,
              ],
              below: (
                <div class="toolbar">
                  <Health webhook={webhook} />
                  {may('POST /webhooks/test') && (
                    <WebhookTest tenantId={tenantId} webhook={webhook} onTried={list.reload} />
                  )}
                </div>
              ),
            }))}
          />
        )}
      </Card>
      {may('POST /webhooks') && webhooks.length < max_webhooks && (
        <CreateCard tenantId={tenantId} list={list.value} onCreated={list.reload} />
      )}
      <DeliveriesCard tenantId={tenantId} webhooks={webhooks} onChange={list.reload} />
      {removing && (
        <Confirm
          title="Remove this webhook?"
          confirm="Remove"
          isDanger
          onClose={() => setRemoving(null)}
          onConfirm={() => remove(removing)}
        >
          <p>
            <code>{removing.url}</code> will receive no more events, and its deliveries are deleted
            {removing.waiting > 0 && `, including ${removing.waiting.toLocaleString()} that are waiting`}.
          </p>
        </Confirm>
      )}
    </>
  )
}

/** Shows whether the endpoint accepts deliveries, and since when. */
function Health({ webhook }: { webhook: WebhookView }) {
  const { health, failures, last_success_at, last_failure_at, last_failure } = webhook
  if (health === 'untried') return <Badge tone="plain">nothing sent yet</Badge>
  return (
    <span>
      {health === 'working' ? <Badge tone="good">working</Badge> : <Badge tone="bad">failing</Badge>}
      <span class="muted small">
        {health === 'failing' && (
          <>
            {' '}
            {failures === 1 ? 'The last try' : `The last ${failures.toLocaleString()} tries`} failed:{' '}
            {last_failure}
            {last_failure_at && (
              <>
                , <Time at={last_failure_at} />
              </>
            )}
            .
          </>
        )}{' '}
        {last_success_at ? (
          <>
            Last success: <Time at={last_success_at} />
          </>
        ) : (
          'No delivery has succeeded yet.'
        )}
      </span>
    </span>
  )
}

function CreateCard(props: { tenantId: string; list: WebhookList; onCreated: () => void }) {
  const { problem, isBusy, run } = useAction()
  const create = (form: HTMLFormElement) =>
    run(async () => {
      const given = new FormData(form)
      await callTenant(props.tenantId, 'POST /webhooks', {
        url: String(given.get('url')).trim(),
        environment: given.get('environment') as Environment,
        events: given.getAll('event').map(String),
      })
      form.reset()
      props.onCreated()
    })
  return (
    <Card
      title="New webhook"
      hint="The address must begin with https. http is allowed only for this machine. Redirects are not followed."
    >
      <form onSubmit={sending(create)}>
        <div class="fields">
          <div class="twice">
            <label for="url">Address</label>
            <input
              id="url"
              name="url"
              type="url"
              required
              autocomplete="off"
              maxLength={2048}
              placeholder="https://app.example.com/countersign"
            />
          </div>
          <div>
            <Choice
              id="environment"
              name="environment"
              label="Environment"
              options={['production', 'sandbox']}
            />
          </div>
        </div>
        <fieldset class="choices">
          <legend>Events (leave all unchecked to receive every event)</legend>
          {props.list.event_types.map((type) => (
            <label key={type}>
              <input type="checkbox" name="event" value={type} /> <code>{type}</code>
            </label>
          ))}
        </fieldset>
        <Problem message={problem} />
        <Button text="Add" type="submit" class="primary" disabled={isBusy} />
      </form>
    </Card>
  )
}
