/**
 * The list of people who sign in, on the page of a tenant's people and on that of the operators: rows, dialogs, and the form that adds one.
 */
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { OperatorView, PersonRole } from '../../contract.js'
import { type Data, useAction } from '../base/data.js'
import { Button, Choice, Field } from '../base/form.js'
import { AddCard, Badge, Card, Problem, type Question, useQuestion, Waiting } from '../base/parts.js'
import { Reveal, type Revealed } from '../base/reveal.js'
import { Table } from '../base/table.js'
import { Time } from '../base/times.js'

const NAME = '[A-Za-z0-9][A-Za-z0-9._@+\\-]*'
const ROLES = [
  ['admin', 'admin: may do everything'],
  ['viewer', 'viewer: may only read'],
] as const
const METHODS = { password: 'by password', oidc: 'by SSO' }

type Listed = OperatorView & { second_factor: boolean }

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
    questionOn: (name: string) => Omit<Question, 'onConfirm'>
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
  const { data, people, self, mayChange, add, reset, noun } = props
  const [shown, setShown] = useState<Revealed | null>(null)
  const [ask, dialog] = useQuestion()
  const { problem, isBusy, run } = useAction()
  const perform = (work: () => Promise<unknown>) =>
    run(async () => {
      await work()
      setShown(null)
      data.reload()
    })
  const changeRole = ({ name, role }: Person) =>
    ask({
      title: `Change the role of ${name}`,
      confirm: 'Save',
      children: (
        <>
          <Choice id="changed-role" label="Role" options={ROLES} initial={role} />
          <p class="muted small">The new role applies immediately, also to open sessions.</p>
        </>
      ),
      onConfirm: (given) => perform(() => props.changeRole(name, given.text('changed-role'))),
    })
  const resetPassword = ({ name }: Person) =>
    ask({
      ...reset.questionOn(name),
      isDanger: true,
      onConfirm: () =>
        run(async () => {
          setShown(await reset.run(name))
          // Loading again with a session that has ended would show the sign-in page instead of the new secret.
          if (name !== self) data.reload()
        }),
    })
  const signOut = ({ name }: Person) =>
    ask({
      title: `End every session of ${name}?`,
      confirm: 'End the sessions',
      isDanger: true,
      children: `The ${noun} is signed out everywhere, at once. The password stays as it is.`,
      onConfirm: () => perform(() => props.signOut(name)),
    })
  const removeSecondFactor = ({ name }: Person) =>
    ask({
      title: `Remove the second factor of ${name}?`,
      confirm: 'Remove it',
      isDanger: true,
      children: `Use this if the ${noun} has lost the phone and the recovery codes. The password then signs in without a code.`,
      onConfirm: () => perform(() => props.removeSecondFactor(name)),
    })
  const remove = ({ name }: Person) =>
    ask({
      title: `Remove ${name}?`,
      confirm: 'Remove',
      isDanger: true,
      children: `The ${noun} is signed out everywhere, at once. What was done under this name stays in the audit log.`,
      onConfirm: () => perform(() => props.remove(name)),
    })
  const buttonsOf = (person: Person) => {
    const change = (text: string, act: (person: Person) => void) => (
      <Button text={text} about={`of ${person.name}`} disabled={isBusy} onClick={() => act(person)} />
    )
    return (
      <>
        {change('Change role…', changeRole)}
        {change(reset.button, resetPassword)}
        {change('End sessions…', signOut)}
        {person.second_factor && change('Remove second factor…', removeSecondFactor)}
        <Button
          text="Remove…"
          about={person.name}
          class="danger"
          disabled={isBusy}
          onClick={() => remove(person)}
        />
      </>
    )
  }
  return (
    <>
      <Problem message={problem ?? (data.value && data.error)} />
      {shown && <Reveal {...shown} key={shown.value} onDone={() => setShown(null)} />}
      <Card title={props.title} hint={data.value && <SignInHint {...data.value} />}>
        {people ? (
          <Table
            label={props.label}
            rows={people}
            keyOf={({ name }) => name}
            columns={[
              {
                name: 'Name',
                cell: (person) => (
                  <span>
                    {person.name}
                    {person.name === self && <span class="muted"> (you)</span>}
                    <span class="muted">{props.stateOf?.(person)}</span>
                    {person.second_factor && <span class="muted"> with a second factor</span>}
                  </span>
                ),
              },
              {
                name: 'Role',
                cell: ({ role }) => <Badge tone={role === 'admin' ? 'good' : 'plain'}>{role}</Badge>,
              },
              {
                name: 'Last sign-in',
                isText: true,
                cell: ({ last_sign_in_at: at, last_sign_in_by: by }) => (
                  <span>
                    <Time at={at} none="never" /> {by && METHODS[by]}
                  </span>
                ),
              },
              { name: 'Added', cell: ({ created_at }) => <Time at={created_at} day /> },
            ]}
            actions={(person) => mayChange && buttonsOf(person)}
            empty={props.empty}
          />
        ) : (
          <Waiting data={data} />
        )}
        {props.children}
      </Card>
      {mayChange && (
        <AddCard
          title={add.title}
          hint={add.hint}
          isRow
          add={async (given) => {
            setShown(await add.run(given.text('person-name'), given.text('person-role')))
            data.reload()
          }}
        >
          <Field
            id="person-name"
            label="Name"
            required
            autocomplete="off"
            autocapitalize="off"
            maxLength={128}
            pattern={NAME}
            placeholder="kim@example.com"
            title="Letters, digits and . _ @ + -"
          />
          <Choice id="person-role" label="Role" options={ROLES} initial="viewer" />
        </AddCard>
      )}
      {dialog}
    </>
  )
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
