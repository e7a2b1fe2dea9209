/** The list of webhook deliveries: the state of each, the last answer, the next attempt, and a button that delivers again. */
import type { DeliveryState, DeliveryView, WebhookView } from '../../contract.js'
import { useAddressQuery, usePager } from '../base/address-query.js'
import { callTenant, tenantAddress } from '../base/api.js'
import { useAction, useData } from '../base/data.js'
import { Button, Segments } from '../base/form.js'
import { Badge, Card, Empty, Facts, Loaded, Problem, type Tone } from '../base/parts.js'
import { useRights } from '../base/session.js'
import { Table } from '../base/table.js'
import { Time } from '../base/times.js'
import { PagerButtons } from '../log-parts.js'

const REFRESH_MS = 5000
type State = DeliveryState | 'retrying'
/** Each state with its meaning, in the order in which a delivery passes through them. */
const STATES: Record<State, readonly [tone: Tone, text: string, meaning: string]> = {
  pending: ['plain', 'waiting', 'It has not been sent yet.'],
  retrying: [
    'bad',
    'failed, will be retried',
    'The endpoint did not accept it. The list shows when it is sent next.',
  ],
  delivered: ['good', 'delivered', 'The endpoint answered with a status from 200 to 299.'],
  failed: ['bad', 'given up', 'The last try failed too. It is sent again only if you redeliver it.'],
  erased: ['plain', 'erased', 'The user was erased before the delivery, and its content with the user.'],
}
const FILTERS = [
  ['', 'All'],
  ['pending', 'Waiting'],
  ['failed', 'Failed'],
  ['delivered', 'Delivered'],
] as const satisfies ReadonlyArray<readonly [DeliveryState | '', string]>
export function DeliveriesCard(props: { tenantId: string; webhooks: WebhookView[]; onChange: () => void }) {
  const { tenantId, webhooks } = props
  const [{ before, ...query }, change] = useAddressQuery(['status', 'before'])
  const pager = usePager(change)
  const status = FILTERS.find(([one]) => one === query.status)?.[0] ?? ''
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
          onChange={(chosen) => change({ status: chosen, before: '' })}
        />
      }
    >
      <Problem message={problem} />
      <Loaded data={page}>
        {({ deliveries, max_attempts }) => (
          <Table
            label="Deliveries"
            kind="log"
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
                cell: (delivery) => {
                  const [tone, text] = STATES[stateOf(delivery)]
                  return <Badge tone={tone}>{text}</Badge>
                },
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
        <Facts rows={Object.values(STATES).map(([, text, meaning]) => [text, meaning])} />
      </details>
      <PagerButtons entries="deliveries" pager={pager} before={before} next={page.value?.next_before} />
    </Card>
  )
}

function stateOf({ status, last_outcome }: DeliveryView): State {
  return status === 'pending' && last_outcome !== null ? 'retrying' : status
}
