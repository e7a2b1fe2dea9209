/** Parts that the lists of operators and of a tenant's people share. */
import { useState } from 'preact/hooks'
import type { OperatorView, PersonRole } from '../../contract.js'
import { Button, Choice, sending } from '../base/form.js'
import { Card, Confirm } from '../base/parts.js'
import { Time } from '../base/times.js'

const NAME = '[A-Za-z0-9][A-Za-z0-9._@+\\-]*'
const ROLES: ReadonlyArray<readonly [PersonRole, string]> = [
  ['admin', 'admin: may do everything'],
  ['viewer', 'viewer: may only read'],
]
const METHODS = { password: 'by password', oidc: 'by SSO' }

export function LastSignIn({ last_sign_in_at: at, last_sign_in_by: by }: OperatorView) {
  return (
    <span>
      {at && by ? (
        <>
          <Time at={at} /> {METHODS[by]}
        </>
      ) : (
        'never'
      )}
    </span>
  )
}

/** The form that adds a person who signs in under a name. */
export function AddPersonCard(props: {
  title: string
  hint: string
  isBusy: boolean
  onAdd: (name: string, role: PersonRole, onAdded: () => void) => void
}) {
  const [name, setName] = useState('')
  const [role, setRole] = useState<PersonRole>('viewer')
  return (
    <Card title={props.title} hint={props.hint}>
      <form class="fields" onSubmit={sending(() => props.onAdd(name, role, () => setName('')))}>
        <div>
          <label for="person-name">Name</label>
          <input
            id="person-name"
            required
            autocomplete="off"
            autocapitalize="off"
            maxLength={128}
            pattern={NAME}
            placeholder="kim@example.com"
            title="Letters, digits and . _ @ + -"
            value={name}
            onInput={(event) => setName(event.currentTarget.value)}
          />
        </div>
        <div>
          <Choice id="person-role" label="Role" options={ROLES} value={role} onChoose={setRole} />
        </div>
        <Button text="Add" type="submit" class="primary" disabled={props.isBusy} />
      </form>
    </Card>
  )
}

export function RoleDialog(props: {
  person: OperatorView
  onSave: (role: PersonRole) => void
  onClose: () => void
}) {
  const [role, setRole] = useState(props.person.role)
  return (
    <Confirm
      title={`Change the role of ${props.person.name}`}
      confirm="Save"
      onClose={props.onClose}
      onConfirm={() => props.onSave(role)}
    >
      <Choice id="changed-role" label="Role" options={ROLES} value={role} onChoose={setRole} />
      <p class="muted small">The new role applies immediately, also to open sessions.</p>
    </Confirm>
  )
}
