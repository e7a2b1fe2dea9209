/** Who operates the installation: operators with names, their roles and their passwords. */
import { useState } from 'preact/hooks'
import type { OperatorList, OperatorView, PersonRole } from '../contract.js'
import { callOperator, operatorAddress } from './api.js'
import { Badge, Card, Confirm, Empty, Problem, Reveal, type Revealed, Table, Time, Waiting } from './parts.js'
import { AddPersonCard, LastSignIn, RoleDialog } from './person-parts.js'
import { useRights, useSession } from './session.js'
import { useAction } from './use-action.js'
import { useData } from './use-data.js'

const COLUMNS = [
  { name: 'Name' },
  { name: 'Role' },
  { name: 'Last sign-in', isText: true },
  { name: 'Added' },
  { name: 'Actions', isSilent: true },
]

interface Asking {
  what: 'role' | 'password' | 'sign-out' | 'second-factor' | 'remove'
  operator: ListedOperator
}

type ListedOperator = OperatorList['operators'][number]

export function OperatorsPage() {
  const operators = useData(operatorAddress('GET /operators'))
  const [shown, setShown] = useState<Revealed | null>(null)
  const [asking, setAsking] = useState<Asking | null>(null)
  const self = useSession().person.name
  const may = useRights().operator
  const { problem, isBusy, run } = useAction()
  const change = (work: () => Promise<Revealed | null>) => {
    setAsking(null)
    return run(async () => {
      setShown(await work())
      operators.reload()
    })
  }
  const add = (name: string, role: PersonRole, onAdded: () => void) =>
    change(async () => {
      const { password } = await callOperator('POST /operators', { name, role })
      onAdded()
      return revealed(name, password, `Give it to ${name}, who signs in with this name.`)
    })
  const reset = ({ name }: OperatorView) => {
    if (name !== self)
      return change(async () => {
        const { password } = await callOperator('POST /operators/password', { name })
        return revealed(name, password, `Give it to ${name}. The sessions with the old one have ended.`)
      })
    setAsking(null)
    return run(async () => {
      const { password } = await callOperator('POST /operators/password', { name })
      // Nothing is loaded again: this session is one of those that have ended, and the password would go with the page.
      setShown(revealed(name, password, 'This session has ended with the old one: sign in again with it.'))
    })
  }
  return (
    <>
      <Problem message={problem ?? (operators.value && operators.error)} />
      {shown && <Reveal {...shown} key={shown.value} onDone={() => setShown(null)} />}
      <Card title="All operators" hint={operators.value && <SignInHint {...operators.value} />}>
        {!operators.value ? (
          <Waiting data={operators} />
        ) : operators.value.operators.length === 0 ? (
          <Empty title="No operators with a name yet">
            Whoever has the operator's password is the operator. With names, the audit log says who acted.
          </Empty>
        ) : (
          <Table
            label="Operators"
            columns={COLUMNS}
            rows={operators.value.operators.map((operator) => ({
              key: operator.name,
              cells: [
                <span>
                  {operator.name}
                  {operator.name === self && <span class="muted"> (you)</span>}
                  {operator.second_factor && <span class="muted"> with a second factor</span>}
                </span>,
                <Badge tone={operator.role === 'admin' ? 'good' : 'plain'}>{operator.role}</Badge>,
                <LastSignIn {...operator} />,
                <Time at={operator.created_at} day />,
                may('POST /operators/remove') && (
                  <Acts operator={operator} isBusy={isBusy} onAsk={(what) => setAsking({ what, operator })} />
                ),
              ],
            }))}
          />
        )}
        <p class="muted">
          Beside them, whoever has the operator's password signs in without a name, as an admin; audit logs
          say <code>dashboard:operator</code>. Another one is made at the command line:{' '}
          <code>countersign operator-password --reset</code>
        </p>
      </Card>
      {may('POST /operators') && (
        <AddPersonCard
          title="New operator"
          hint="The password is made here and shown once."
          isBusy={isBusy}
          onAdd={add}
        />
      )}
      {asking?.what === 'role' && (
        <RoleDialog
          person={asking.operator}
          onCancel={() => setAsking(null)}
          onSave={(role) =>
            change(async () => {
              await callOperator('POST /operators/role', { name: asking.operator.name, role })
              return null
            })
          }
        />
      )}
      {asking?.what === 'password' && (
        <Confirm
          title={`Another password for ${asking.operator.name}?`}
          confirm="Reset the password"
          isDanger
          onCancel={() => setAsking(null)}
          onConfirm={() => reset(asking.operator)}
        >
          <p>A new one is made and shown once. The old one, and every session of this operator, end now.</p>
        </Confirm>
      )}
      {asking?.what === 'second-factor' && (
        <Confirm
          title={`Take the second factor from ${asking.operator.name}?`}
          confirm="Take it"
          isDanger
          onCancel={() => setAsking(null)}
          onConfirm={() =>
            change(async () => {
              await callOperator('POST /operators/second-factor/remove', { name: asking.operator.name })
              return null
            })
          }
        >
          <p>
            For an operator who has lost the phone and the recovery codes. The password signs in by itself
            then.
          </p>
        </Confirm>
      )}
      {asking?.what === 'sign-out' && (
        <Confirm
          title={`End every session of ${asking.operator.name}?`}
          confirm="End them"
          isDanger
          onCancel={() => setAsking(null)}
          onConfirm={() =>
            change(async () => {
              await callOperator('POST /operators/sign-out', { name: asking.operator.name })
              return null
            })
          }
        >
          <p>The operator is signed out everywhere, at once. The password stays as it is.</p>
        </Confirm>
      )}
      {asking?.what === 'remove' && (
        <Confirm
          title={`Remove ${asking.operator.name}?`}
          confirm="Remove"
          isDanger
          onCancel={() => setAsking(null)}
          onConfirm={() =>
            change(async () => {
              await callOperator('POST /operators/remove', { name: asking.operator.name })
              return null
            })
          }
        >
          <p>Signed out everywhere, at once. What was done under this name stays in the audit logs.</p>
        </Confirm>
      )}
    </>
  )
}

function revealed(name: string, value: string, hint: string): Revealed {
  return { label: `Password of ${name}`, value, hint, beside: [['Name', name]] }
}

function SignInHint({ provider }: OperatorList) {
  return provider ? (
    <>
      Each signs in with the name and a password, or by the provider <code>{provider.issuer}</code>, whose
      claim <code>{provider.claim}</code> is then the name.
    </>
  ) : (
    <>Each signs in with the name and a password.</>
  )
}

function Acts(props: { operator: ListedOperator; isBusy: boolean; onAsk: (what: Asking['what']) => void }) {
  const { operator, isBusy, onAsk } = props
  const ofWhom = <span class="for-readers"> of {operator.name}</span>
  return (
    <span class="buttons">
      <button type="button" disabled={isBusy} onClick={() => onAsk('role')}>
        Change role…{ofWhom}
      </button>
      <button type="button" disabled={isBusy} onClick={() => onAsk('password')}>
        Reset password…{ofWhom}
      </button>
      <button type="button" disabled={isBusy} onClick={() => onAsk('sign-out')}>
        End sessions…{ofWhom}
      </button>
      {operator.second_factor && (
        <button type="button" disabled={isBusy} onClick={() => onAsk('second-factor')}>
          Remove second factor…{ofWhom}
        </button>
      )}
      <button type="button" class="danger" disabled={isBusy} onClick={() => onAsk('remove')}>
        Remove…<span class="for-readers"> {operator.name}</span>
      </button>
    </span>
  )
}
