/** The list of webhook deliveries: the state of each, the last answer, the next attempt, and a button that delivers again. */
import { useState } from 'preact/hooks'
import type { DeliveryState, DeliveryView, WebhookView } from '../../contract.js'
import { callTenant, tenantAddress } from '../base/api.js'
import { useAction, useData } from '../base/data.js'
import { Button, Segments } from '../base/form.js'
import { Badge, Card, Empty, type Fact, Facts, Loaded, Problem } from '../base/parts.js'
import { useRights } from '../base/session.js'
import { Table } from '../base/table.js'
import { Time } from '../base/times.js'
import { PagerButtons } from '../log-parts.js'

const REFRESH_MS = 5000
type State = DeliveryState | 'retrying'
const TONES = {
  pending: 'plain',
  retrying: 'bad',
  delivered: 'good',
  failed: 'bad',
  erased: 'plain',
} as const
const STATE_TEXT: Record<State, string> = {
  pending: 'waiting',
  retrying: 'failed, will be retried',
  delivered: 'delivered',
  failed: 'given up',
  erased: 'erased',
}
/** The meaning of each state, in the order in which a delivery passes through them. */
const MEANINGS: Array<[State, string]> = [
  ['pending', 'It has not been sent yet.'],
  ['retrying', 'The endpoint did not accept it. The list shows when it is sent next.'],
  ['delivered', 'The endpoint answered with a status from 200 to 299.'],
  ['failed', 'The last try failed too. It is sent again only if you redeliver it.'],
  ['erased', 'The user was erased before the delivery, and its content with the user.'],
]
const FILTERS = [
  ['', 'All'],
  ['pending', 'Waiting'],
  ['failed', 'Failed'],
  ['delivered', 'Delivered'],
] as const satisfies ReadonlyArray<readonly [DeliveryState | '', string]>
export function DeliveriesCard(props: { tenantId: string; webhooks: WebhookView[]; onChange: () => void }) {
  const { tenantId, webhooks } = props
  const [status, setStatus] = useState<DeliveryState | ''>('')
  /** Cursors of this page and the newer ones. The newest page has none. */
  const [starts, setStarts] = useState<string[]>([])
  const before = starts.at(-1) ?? ''
  const page = useData(tenantAddress(tenantId, 'GET /webhooks/deliveries', { status, before }), REFRESH_MS)
  const mayRedeliver = useRights().tenant('POST /webhooks/redeliver')
  const { problem, isBusy, run } = useAction(() => {
    page.reload()
    props.onChange()
  })
  const redeliver = ({ id }: DeliveryView) =>
    run(() => callTenant(tenantId, 'POST /webhooks/redeliver', { delivery: id }))
  const hostOf = (id: string) => {
    const webhook = webhooks.find((one) => one.id === id)
    return webhook && new URL(webhook.url).host
  }
  return (
    <Card
      title="Deliveries"
      hint="Deliveries of the last week. A failed delivery is retried for about a day, with growing waits."
      actions={
        <Segments
          label="State of deliveries"
          options={FILTERS}
          value={status}
          onChange={(chosen) => {
            setStarts([])
            setStatus(chosen)
          }}
        />
      }
    >
      <Problem message={problem} />
      <Loaded data={page}>
        {({ deliveries, max_attempts }) => (
          <Table
            label="Deliveries"
            isLog
            rows={deliveries}
            keyOf={({ id }) => id}
            columns={[
              { name: 'Created', cell: ({ created_at }) => <Time at={created_at} /> },
              {
                name: 'Event',
                isText: true,
                cell: ({ event_id, type, webhook }) => (
                  <span title={event_id}>
                    <code>{type}</code> <span class="muted small">{hostOf(webhook)}</span>
                  </span>
                ),
              },
              {
                name: 'State',
                cell: (delivery) => (
                  <Badge tone={TONES[stateOf(delivery)]}>{STATE_TEXT[stateOf(delivery)]}</Badge>
                ),
              },
              { name: 'Tries', isNumber: true, cell: ({ attempts }) => `${attempts} of ${max_attempts}` },
              { name: 'Last answer', cell: ({ last_outcome }) => last_outcome },
              {
                name: 'Next try',
                cell: (delivery) =>
                  delivery.next_attempt_at ? (
                    <Time at={delivery.next_attempt_at} />
                  ) : (
                    mayRedeliver &&
                    delivery.replayable && (
                      <Button
                        text="Redeliver"
                        about={delivery.event_id}
                        disabled={isBusy}
                        onClick={() => redeliver(delivery)}
                      />
                    )
                  ),
              },
            ]}
            empty={<Empty title={status === '' ? 'Nothing was sent yet' : 'No delivery is in this state'} />}
          />
        )}
      </Loaded>
      <details class="muted">
        <summary>What the states mean</summary>
        <Facts rows={MEANINGS.map(([state, text]): Fact => [STATE_TEXT[state], text])} />
      </details>
      <PagerButtons
        entries="deliveries"
        pager={{
          older: (next) => setStarts([...starts, next]),
          newer: () => setStarts(starts.slice(0, -1)),
        }}
        before={before}
        next={page.value?.next_before}
      />
    </Card>
  )
}

function stateOf({ status, last_outcome }: DeliveryView): State {
  return status === 'pending' && last_outcome !== null ? 'retrying' : status
}
