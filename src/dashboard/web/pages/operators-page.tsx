/** The page of the operators of the installation, with their names, roles and passwords. */
import { callOperator, operatorAddress } from '../base/api.js'
import { useData } from '../base/data.js'
import { Empty } from '../base/parts.js'
import type { Revealed } from '../base/reveal.js'
import { useRights, useSession } from '../base/session.js'
import { PeopleList } from '../cards/people-list.js'

export function OperatorsPage() {
  const data = useData(operatorAddress('GET /operators'))
  const self = useSession().person.name
  return (
    <PeopleList
      title="All operators"
      label="Operators"
      noun="operator"
      data={data}
      people={data.value?.operators}
      empty={
        <Empty title="No operators with a name yet">
          Everyone with the shared password acts as “operator”. Add named operators so that the audit log
          shows who did what.
        </Empty>
      }
      self={self}
      mayChange={useRights().operator('POST /operators')}
      add={{
        title: 'New operator',
        hint: 'The password is made here and shown once.',
        run: async (name, role) => {
          const { password } = await callOperator('POST /operators', { name, role })
          return revealed(name, password, `Give it to ${name}, who signs in with this name.`)
        },
      }}
      reset={{
        button: 'Reset password…',
        questionOn: (name) => ({
          title: `Reset the password of ${name}?`,
          confirm: 'Reset the password',
          children:
            'A new password is made and shown once. The old one, and every session of this operator, end now.',
        }),
        run: async (name) => {
          const { password } = await callOperator('POST /operators/password', { name })
          const hint =
            name === self
              ? 'This session has ended with the old one: sign in again with the new one.'
              : `Give it to ${name}. The sessions with the old one have ended.`
          return revealed(name, password, hint)
        },
      }}
      changeRole={(name, role) => callOperator('POST /operators/role', { name, role })}
      change={(act, name) => callOperator(`POST /operators/${act}`, { name })}
    >
      <p class="muted">
        Everyone with the shared operator password signs in without a name, as an admin. Audit logs then say{' '}
        <code>dashboard:operator</code>. To replace this password, run{' '}
        <code>countersign operator-password --reset</code>
      </p>
    </PeopleList>
  )
}

function revealed(name: string, value: string, hint: string): Revealed {
  return { label: `Password of ${name}`, value, hint, details: [['Name', name]] }
}
