/** The card of a user's passkeys: where each is, when it was used, the state of its counter, and a button that revokes it. */
import { useEffect, useState } from 'preact/hooks'
import type { InputOf, PasskeyView, TenantRoutes } from '../../contract.js'
import { callTenant } from '../base/api.js'
import { Button } from '../base/form.js'
import { Badge, Card, Empty, Loading, useActions } from '../base/parts.js'
import { useRights } from '../base/session.js'
import { Table } from '../base/table.js'
import { Time } from '../base/times.js'

export function UserPasskeysCard(props: {
  tenantId: string
  user: InputOf<TenantRoutes['POST /users/passkeys']>
  onRevoked: () => void
}) {
  const { tenantId, user } = props
  const mayRevoke = useRights().tenant('POST /users/passkeys/revoke')
  const [passkeys, setPasskeys] = useState<PasskeyView[] | null>(null)
  const { problem, isBusy, run, ask, feedback } = useActions()
  const load = async () => setPasskeys((await callTenant(tenantId, 'POST /users/passkeys', user)).passkeys)
  useEffect(() => void run(load), [user.user_id, user.environment])
  const revoke = ({ passkey_id, name }: PasskeyView) =>
    ask({
      title: `Revoke the passkey \u2068${name ?? passkey_id}\u2069?`,
      confirm: 'Revoke',
      isDanger: true,
      children:
        'It is refused from now on, and cannot be brought back: the user can only register another one. The audit log and a webhook report it.',
      act: async () => {
        await callTenant(tenantId, 'POST /users/passkeys/revoke', { ...user, passkey: passkey_id })
        await load()
        props.onRevoked()
      },
    })
  return (
    <Card title="Passkeys">
      {feedback}
      {passkeys === null ? (
        !problem && <Loading />
      ) : (
        <Table
          label="Passkeys of the user"
          rows={passkeys}
          keyOf={({ passkey_id }) => passkey_id}
          columns={[
            {
              name: 'Passkey',
              cell: ({ passkey_id, name }) => (
                <span title={passkey_id}>
                  <bdi>{name ?? `…${passkey_id.slice(-8)}`}</bdi>
                </span>
              ),
            },
            { name: 'Registered', cell: ({ created_at }) => <Time at={created_at} /> },
            { name: 'Last used', cell: ({ last_used_at }) => <Time at={last_used_at} none="never" /> },
            { name: 'Copies', isText: true, cell: copiesInWords },
            { name: 'Counter', isText: true, cell: (passkey) => <Counter passkey={passkey} /> },
          ]}
          actions={(passkey) =>
            mayRevoke && (
              <Button
                text="Revoke…"
                about={passkey.name ?? passkey.passkey_id}
                class="danger"
                disabled={isBusy}
                onClick={() => revoke(passkey)}
              />
            )
          }
          empty={<Empty title="No passkey is registered" />}
        />
      )}
    </Card>
  )
}

function copiesInWords({ synced, backed_up }: PasskeyView): string {
  if (!synced) return 'cannot leave its device'
  return backed_up ? 'its provider copies it to other devices' : 'may be copied, and is not copied yet'
}

function Counter({ passkey: { counter, counter_reversed_at } }: { passkey: PasskeyView }) {
  const state = counter === 0 ? 'does not count' : `${counter.toLocaleString()} at its last use`
  if (counter_reversed_at === null) return <>{state}</>
  return (
    <span>
      {state} <Badge tone="warn">did not grow</Badge>{' '}
      <span class="muted small">
        on <Time at={counter_reversed_at} />: a copy may exist. Revoke it, and ask the person.
      </span>
    </span>
  )
}
