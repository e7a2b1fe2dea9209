/** The list of webhook deliveries: the state of each, the last answer, the next attempt, and a button that delivers again. */
import { useState } from 'preact/hooks'
import type { DeliveryState, DeliveryView, WebhookView } from '../../contract.js'
import { callTenant, tenantAddress } from '../base/api.js'
import { Button } from '../base/form.js'
import { Badge, Card, Empty, type Fact, Facts, Loading, Problem, Segments } from '../base/parts.js'
import { useRights } from '../base/session.js'
import { Table } from '../base/table.js'
import { Time } from '../base/times.js'
import { useAction } from '../base/use-action.js'
import { useData } from '../base/use-data.js'

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
const COLUMNS = [
  { name: 'Created' },
  { name: 'Event', isText: true },
  { name: 'State' },
  { name: 'Tries', isNumber: true },
  { name: 'Last answer' },
  { name: 'Next try' },
]

export function DeliveriesCard(props: { tenantId: string; webhooks: WebhookView[]; onChange: () => void }) {
  const { tenantId, webhooks } = props
  const [status, setStatus] = useState<DeliveryState | ''>('')
  /** Cursors of this page and the newer ones. The newest page has none. */
  const [starts, setStarts] = useState<string[]>([])
  const before = starts.at(-1) ?? ''
  const page = useData(tenantAddress(tenantId, 'GET /webhooks/deliveries', { status, before }), REFRESH_MS)
  const { problem, isBusy, run } = useAction()
  const redeliver = ({ id }: DeliveryView) =>
    run(async () => {
      await callTenant(tenantId, 'POST /webhooks/redeliver', { delivery: id })
      page.reload()
      props.onChange()
    })
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
      <Problem message={page.error} onRetry={page.reload} />
      {!page.value ? (
        !page.error && <Loading />
      ) : page.value.deliveries.length === 0 ? (
        <Empty title={status === '' ? 'Nothing was sent yet' : 'No delivery is in this state'} />
      ) : (
        <Deliveries
          deliveries={page.value.deliveries}
          maxAttempts={page.value.max_attempts}
          hostOf={hostOf}
          isBusy={isBusy}
          onRedeliver={redeliver}
        />
      )}
      <details class="muted">
        <summary>What the states mean</summary>
        <Facts rows={MEANINGS.map(([state, text]): Fact => [STATE_TEXT[state], text])} />
      </details>
      {(page.value?.next_before || starts.length > 0) && (
        <div class="pager">
          <Button
            text="Newer deliveries"
            disabled={starts.length === 0}
            onClick={() => setStarts(starts.slice(0, -1))}
          />
          <Button
            text="Older deliveries"
            disabled={!page.value?.next_before}
            onClick={() => setStarts([...starts, page.value!.next_before!])}
          />
        </div>
      )}
    </Card>
  )
}

function stateOf({ status, last_outcome }: DeliveryView): State {
  return status === 'pending' && last_outcome !== null ? 'retrying' : status
}

function Deliveries(props: {
  deliveries: DeliveryView[]
  maxAttempts: number
  hostOf: (webhook: string) => string | undefined
  isBusy: boolean
  onRedeliver: (delivery: DeliveryView) => void
}) {
  const mayRedeliver = useRights().tenant('POST /webhooks/redeliver')
  return (
    <Table
      label="Deliveries"
      isLog
      columns={COLUMNS}
      rows={props.deliveries.map((delivery) => ({
        key: delivery.id,
        cells: [
          <Time at={delivery.created_at} />,
          <span title={delivery.event_id}>
            <code>{delivery.type}</code> <span class="muted small">{props.hostOf(delivery.webhook)}</span>
          </span>,
          <Badge tone={TONES[stateOf(delivery)]}>{STATE_TEXT[stateOf(delivery)]}</Badge>,
          `${delivery.attempts} of ${props.maxAttempts}`,
          delivery.last_outcome,
          delivery.next_attempt_at ? (
            <Time at={delivery.next_attempt_at} />
          ) : (
            mayRedeliver &&
            delivery.replayable && (
              <Button
                text="Redeliver"
                about={delivery.event_id}
                disabled={props.isBusy}
                onClick={() => props.onRedeliver(delivery)}
              />
            )
          ),
        ],
      }))}
    />
  )
}
