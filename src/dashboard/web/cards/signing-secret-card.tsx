/** Shows the signing secret and its rotation: how long both secrets are valid, and which of them the backends still use. */
import type { SigningSecretView, TenantOverview, TrafficView } from '../../contract.js'
import { Button } from '../base/form.js'
import { type Actions, Badge, Card } from '../base/parts.js'
import { useRights } from '../base/session.js'
import { Table } from '../base/table.js'
import { Countdown, Time } from '../base/times.js'

const MINUTE_MS = 60_000

/** The use of a secret in the traffic of the last hour. */
interface Use {
  count: number
  /** Start of the last minute with a request that sent its id. */
  lastAt: number | null
}

export function SigningSecretCard(props: {
  tenant: TenantOverview
  traffic: TrafficView | null
  actions: Actions
  rotate: (force: boolean) => Promise<unknown>
}) {
  const { tenant, traffic, rotate } = props
  const { ask, run } = props.actions
  const { signing_secrets: secrets, now } = tenant
  const previous = secrets.find(({ valid_until }) => valid_until !== null)
  const current = secrets.find(({ valid_until }) => valid_until === null)
  // During an overlap, only requests after the rotation show whether the backends use the new secret.
  const since = previous && current ? Date.parse(current.created_at) : 0
  const uses = new Map(secrets.map(({ id }) => [id, useOf(traffic, id, since)]))
  const mayRotate = useRights().tenant('POST /rotate-signing')
  const unnamed = useOf(traffic, 'unnamed', since)
  const endOverlap = () =>
    ask({
      title: 'End the outgoing secret now?',
      confirm: 'Rotate now',
      isDanger: true,
      children:
        'A new secret is made, the current one becomes the outgoing one, and the outgoing one stops working at once: backends that still use it immediately reject every response.',
      act: () => rotate(true),
    })
  return (
    <Card
      title="Signing secret"
      hint="It signs every response and every JWT."
      actions={
        mayRotate &&
        (previous ? (
          <Button text="End the overlap: rotate again" class="danger" onClick={endOverlap} />
        ) : (
          <Button text="Rotate the signing secret" class="primary" onClick={() => run(() => rotate(false))} />
        ))
      }
    >
      {previous && current && (
        <Overlap {...{ previous, now, unnamed }} old={uses.get(previous.id)!} fresh={uses.get(current.id)!} />
      )}
      <Table
        label="Signing secrets"
        rows={secrets}
        columns={[
          { name: 'Id (kid)', cell: ({ id }) => <code>{id}</code> },
          {
            name: 'State',
            cell: ({ valid_until }) => (
              <Badge tone={valid_until ? 'warn' : 'good'}>{valid_until ? 'outgoing' : 'current'}</Badge>
            ),
          },
          { name: 'Created', cell: ({ created_at }) => <Time at={created_at} /> },
          { name: 'Requests', isNumber: true, cell: ({ id }) => uses.get(id)!.count },
          {
            name: 'Last request',
            cell: ({ id }) => {
              const { lastAt } = uses.get(id)!
              return lastAt === null ? 'none' : ago(Date.parse(now) - lastAt)
            },
          },
        ]}
      />
      <p class="muted">
        {previous ? 'Requests since the rotation' : 'Requests of the last hour'}, counted by the secret's id
        that your backend sends in the header <code>X-Svc-Signing-Key-Id</code>.{' '}
        {unnamed.count > 0 && (
          <>
            {unnamed.count === 1 ? '1 request' : `${unnamed.count} requests`} did not send it, so it is
            unknown which secret those callers hold. The SDK sends it automatically if{' '}
            <code>signingSecret</code> has the id: <code>{'{ id, secret }'}</code>.{' '}
          </>
        )}
        {!previous && 'After a rotation the old and the new secret both validate for 30 minutes.'}
      </p>
    </Card>
  )
}

function Overlap(props: { previous: SigningSecretView; now: string; old: Use; fresh: Use; unnamed: Use }) {
  const { previous, now, old, fresh, unnamed } = props
  const parts = [
    { name: 'new secret', count: fresh.count, colour: 'var(--chart-1)' },
    { name: 'old secret', count: old.count, colour: 'var(--chart-3)' },
    { name: 'unknown', count: unnamed.count, colour: 'var(--muted)' },
  ]
  const total = parts.reduce((sum, { count }) => sum + count, 0)
  const text = parts.map(({ name, count }) => `${name} ${count}`).join(', ')
  return (
    <div class="overlap">
      <div class="clock">
        <Countdown until={previous.valid_until!} now={now} />
        <span class="muted small">until only the new secret signs</span>
      </div>
      <div class="share">
        <strong>{advice(old, fresh, Date.parse(now))}</strong>
        <svg
          role="img"
          aria-label={`Requests since the rotation: ${text}`}
          viewBox="0 0 100 1"
          preserveAspectRatio="none"
        >
          {parts.map(({ name, count, colour }, index) => (
            <rect
              key={name}
              style={{ fill: colour }}
              x={total ? (100 * parts.slice(0, index).reduce((sum, part) => sum + part.count, 0)) / total : 0}
              width={total ? (100 * count) / total : 0}
              height="1"
            />
          ))}
        </svg>
        <ul class="keys muted small">
          {parts.map(({ name, count, colour }) => (
            <li key={name}>
              <i style={{ background: colour }} /> {name} <b>{count}</b>
            </li>
          ))}
        </ul>
      </div>
    </div>
  )
}

function advice(old: Use, fresh: Use, now: number): string {
  if (old.count + fresh.count === 0) return 'No request since the rotation has sent the id of its secret.'
  if (fresh.count === 0) return 'Every backend still holds the old secret: deploy the new one.'
  if (old.lastAt === null) return 'Every backend that sends the id of its secret holds the new one.'
  return `The id of the old secret was last sent ${ago(now - old.lastAt)}.`
}

function useOf(traffic: TrafficView | null, name: string, since: number): Use {
  const slots = (traffic?.slots ?? []).filter(({ at }) => at + (traffic?.step_ms ?? 0) > since)
  const named = slots.filter(({ signingKeys }) => signingKeys[name])
  return {
    count: named.reduce((count, { signingKeys }) => count + signingKeys[name]!, 0),
    lastAt: named.at(-1)?.at ?? null,
  }
}

function ago(ms: number): string {
  const minutes = Math.floor(ms / MINUTE_MS)
  return minutes < 1 ? 'just now' : minutes === 1 ? '1 minute ago' : `${minutes} minutes ago`
}
