/**
 * The list of people who sign in, on the page of a tenant's people and on that of the operators: rows, dialogs, and the form that adds one.
 */
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { OperatorView, PersonRole } from '../../contract.js'
import { Button } from '../base/form.js'
import { Badge, Card, Confirm, Problem, Waiting } from '../base/parts.js'
import { Reveal, type Revealed } from '../base/reveal.js'
import { Table } from '../base/table.js'
import { Time } from '../base/times.js'
import { useAction } from '../base/use-action.js'
import type { Data } from '../base/use-data.js'
import { AddPersonCard, LastSignIn, RoleDialog } from './person-parts.js'

const COLUMNS = [
  { name: 'Name' },
  { name: 'Role' },
  { name: 'Last sign-in', isText: true },
  { name: 'Added' },
  { name: 'Actions', isSilent: true },
]

type Listed = OperatorView & { second_factor: boolean }
type Change = 'role' | 'reset' | 'sign-out' | 'second-factor' | 'remove'

interface Question {
  title: string
  confirm: string
  consequence: string
}

interface PeopleListProps<Person extends Listed> {
  title: string
  /** Names the table for screen readers. */
  label: string
  noun: 'person' | 'operator'
  data: Data<{ provider: { issuer: string; claim: string } | null }>
  people: Person[] | undefined
  /** Shown instead of the table while it would be empty. */
  empty: ComponentChildren
  /** Name of the person who looks at the page, where it is one of the list. */
  self: string | null
  stateOf?: (person: Person) => string
  /** False for a viewer, who is offered no changes. */
  mayChange: boolean
  add: { title: string; hint: string; run: (name: string, role: PersonRole) => Promise<Revealed> }
  /** Replaces the password by another one, or by a link to choose one. */
  reset: {
    button: string
    questionOn: (name: string) => Question
    run: (name: string) => Promise<Revealed>
  }
  changeRole: (name: string, role: PersonRole) => Promise<unknown>
  signOut: (name: string) => Promise<unknown>
  removeSecondFactor: (name: string) => Promise<unknown>
  remove: (name: string) => Promise<unknown>
  /** Stands below the table. */
  children?: ComponentChildren
}

export function PeopleList<Person extends Listed>(props: PeopleListProps<Person>) {
  const { data, people, self, mayChange, add, reset } = props
  const [shown, setShown] = useState<Revealed | null>(null)
  const [asking, setAsking] = useState<{ change: Change; person: Person } | null>(null)
  const { problem, isBusy, run } = useAction()
  const perform = (work: () => Promise<Revealed | null>, { endsOwnSession = false } = {}) =>
    run(async () => {
      setShown(await work())
      // Loading again with a session that has ended would show the sign-in page instead of the new secret.
      if (!endsOwnSession) data.reload()
    })
  const confirmed = (change: Exclude<Change, 'role'>, name: string) => {
    if (change === 'reset') return perform(() => reset.run(name), { endsOwnSession: name === self })
    const call = {
      'sign-out': props.signOut,
      'second-factor': props.removeSecondFactor,
      remove: props.remove,
    }[change]
    return perform(() => call(name).then(() => null))
  }
  return (
    <>
      <Problem message={problem ?? (data.value && data.error)} />
      {shown && <Reveal {...shown} key={shown.value} onDone={() => setShown(null)} />}
      <Card title={props.title} hint={data.value && <SignInHint {...data.value} />}>
        {!people ? (
          <Waiting data={data} />
        ) : people.length === 0 ? (
          props.empty
        ) : (
          <Table
            label={props.label}
            columns={COLUMNS}
            rows={people.map((person) => ({
              key: person.name,
              cells: [
                <span>
                  {person.name}
                  {person.name === self && <span class="muted"> (you)</span>}
                  <span class="muted">{props.stateOf?.(person)}</span>
                  {person.second_factor && <span class="muted"> with a second factor</span>}
                </span>,
                <Badge tone={person.role === 'admin' ? 'good' : 'plain'}>{person.role}</Badge>,
                <LastSignIn {...person} />,
                <Time at={person.created_at} day />,
                mayChange && (
                  <ChangeButtons
                    person={person}
                    reset={reset.button}
                    isBusy={isBusy}
                    onAsk={(change) => setAsking({ change, person })}
                  />
                ),
              ],
            }))}
          />
        )}
        {props.children}
      </Card>
      {mayChange && (
        <AddPersonCard
          title={add.title}
          hint={add.hint}
          isBusy={isBusy}
          onAdd={(name, role, onAdded) =>
            perform(async () => {
              const added = await add.run(name, role)
              onAdded()
              return added
            })
          }
        />
      )}
      {asking && (
        <Dialog
          {...asking}
          noun={props.noun}
          questionOnReset={reset.questionOn}
          onClose={() => setAsking(null)}
          onRole={(role) => perform(() => props.changeRole(asking.person.name, role).then(() => null))}
          onConfirm={(change) => confirmed(change, asking.person.name)}
        />
      )}
    </>
  )
}

function Dialog(props: {
  change: Change
  person: Listed
  noun: string
  questionOnReset: (name: string) => Question
  onClose: () => void
  onRole: (role: PersonRole) => void
  onConfirm: (change: Exclude<Change, 'role'>) => void
}) {
  const { change, person, noun, onClose } = props
  if (change === 'role') return <RoleDialog person={person} onClose={onClose} onSave={props.onRole} />
  const { title, confirm, consequence } =
    change === 'reset' ? props.questionOnReset(person.name) : questionOn(change, person.name, noun)
  return (
    <Confirm
      title={title}
      confirm={confirm}
      isDanger
      onClose={onClose}
      onConfirm={() => props.onConfirm(change)}
    >
      <p>{consequence}</p>
    </Confirm>
  )
}

function questionOn(change: Exclude<Change, 'role' | 'reset'>, name: string, noun: string): Question {
  switch (change) {
    case 'sign-out':
      return {
        title: `End every session of ${name}?`,
        confirm: 'End the sessions',
        consequence: `The ${noun} is signed out everywhere, at once. The password stays as it is.`,
      }
    case 'second-factor':
      return {
        title: `Remove the second factor of ${name}?`,
        confirm: 'Remove it',
        consequence: `Use this if the ${noun} has lost the phone and the recovery codes. The password then signs in without a code.`,
      }
    case 'remove':
      return {
        title: `Remove ${name}?`,
        confirm: 'Remove',
        consequence: `The ${noun} is signed out everywhere, at once. What was done under this name stays in the audit log.`,
      }
  }
}

function SignInHint({ provider }: { provider: { issuer: string; claim: string } | null }) {
  return provider ? (
    <>
      Each person signs in with a name and a password, or with SSO at <code>{provider.issuer}</code>, whose
      claim <code>{provider.claim}</code> is the name.
    </>
  ) : (
    <>Each person signs in with a name and a password.</>
  )
}

function ChangeButtons(props: {
  person: Listed
  reset: string
  isBusy: boolean
  onAsk: (change: Change) => void
}) {
  const { person, isBusy, onAsk } = props
  const ofWhom = <span class="for-readers"> of {person.name}</span>
  return (
    <span class="buttons">
      <button type="button" disabled={isBusy} onClick={() => onAsk('role')}>
        Change role…{ofWhom}
      </button>
      <button type="button" disabled={isBusy} onClick={() => onAsk('reset')}>
        {props.reset}
        {ofWhom}
      </button>
      <button type="button" disabled={isBusy} onClick={() => onAsk('sign-out')}>
        End sessions…{ofWhom}
      </button>
      {person.second_factor && (
        <button type="button" disabled={isBusy} onClick={() => onAsk('second-factor')}>
          Remove second factor…{ofWhom}
        </button>
      )}
      <Button
        text="Remove…"
        about={person.name}
        class="danger"
        disabled={isBusy}
        onClick={() => onAsk('remove')}
      />
    </span>
  )
}
