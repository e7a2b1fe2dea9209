/** The list of a tenant's people, and of the operators: rows, questions, and the form that adds one. */
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { OperatorView, PersonRole } from '../../contract.js'
import type { Data } from '../base/data.js'
import { Button, Choice, Field, NAME } from '../base/form.js'
import { AddCard, Badge, Card, Loaded, type Question, useActions } from '../base/parts.js'
import { Reveal, type Revealed } from '../base/reveal.js'
import { Table } from '../base/table.js'
import { Time } from '../base/times.js'

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
  empty: ComponentChildren
  /** Name of the person who looks at the page, where it is one of the list. */
  self: string | null
  stateOf?: (person: Person) => string
  mayChange: boolean
  add: { title: string; hint: string; run: (name: string, role: PersonRole) => Promise<Revealed> }
  /** Replaces the password by another one, or by a link to choose one. */
  reset: {
    button: string
    questionOn: (name: string) => Omit<Question, 'act'>
    run: (name: string) => Promise<Revealed>
  }
  changeRole: (name: string, role: PersonRole) => Promise<unknown>
  change: (act: 'sign-out' | 'second-factor/remove' | 'remove', name: string) => Promise<unknown>
  children?: ComponentChildren
}

export function PeopleList<Person extends Listed>(props: PeopleListProps<Person>) {
  const { data, people, self, mayChange, add, reset, noun } = props
  const [shown, setShown] = useState<Revealed | null>(null)
  const { isBusy, ask, feedback } = useActions()
  const changed = async (done: Promise<unknown>) => {
    await done
    setShown(null)
    data.reload()
  }
  const buttonsOf = ({ name, role, second_factor }: Person) => {
    const attributes = (question: Question) => ({ disabled: isBusy, onClick: () => ask(question) })
    const button = (text: string, question: Question) => (
      <Button text={text} about={`of ${name}`} {...attributes(question)} />
    )
    return (
      <>
        {button('Change role…', {
          title: `Change the role of ${name}`,
          confirm: 'Save',
          children: (
            <>
              <Choice id="changed-role" label="Role" options={ROLES} initial={role} />
              <p class="muted small">The new role applies immediately, also to open sessions.</p>
            </>
          ),
          act: (given) => changed(props.changeRole(name, given.text('changed-role'))),
        })}
        {button(reset.button, {
          ...reset.questionOn(name),
          isDanger: true,
          act: async () => {
            setShown(await reset.run(name))
            // Loading again with a session that has ended would show the sign-in page instead of the new secret.
            if (name !== self) data.reload()
          },
        })}
        {button('End sessions…', {
          title: `End every session of ${name}?`,
          confirm: 'End the sessions',
          isDanger: true,
          children: `The ${noun} is signed out everywhere, at once. The password stays as it is.`,
          act: () => changed(props.change('sign-out', name)),
        })}
        {second_factor &&
          button('Remove second factor…', {
            title: `Remove the second factor of ${name}?`,
            confirm: 'Remove it',
            isDanger: true,
            children: `Use this if the ${noun} has lost the phone and the recovery codes. The password then signs in without a code.`,
            act: () => changed(props.change('second-factor/remove', name)),
          })}
        <Button
          text="Remove…"
          about={name}
          class="danger"
          {...attributes({
            title: `Remove ${name}?`,
            confirm: 'Remove',
            isDanger: true,
            children: `The ${noun} is signed out everywhere, at once. What was done under this name stays in the audit log.`,
            act: () => changed(props.change('remove', name)),
          })}
        />
      </>
    )
  }
  return (
    <>
      {feedback}
      {shown && <Reveal {...shown} key={shown.value} onDone={() => setShown(null)} />}
      <Card title={props.title} hint={data.value && <SignInHint {...data.value} />}>
        <Loaded data={data}>
          {() => (
            <Table
              label={props.label}
              rows={people ?? []}
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
          )}
        </Loaded>
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
            {...NAME}
            autocapitalize="off"
            maxLength={128}
            pattern="[A-Za-z0-9][A-Za-z0-9._@+\-]*"
            placeholder="kim@example.com"
            title="Letters, digits and . _ @ + -"
          />
          <Choice id="person-role" label="Role" options={ROLES} initial="viewer" />
        </AddCard>
      )}
    </>
  )
}

function SignInHint({ provider }: { provider: { issuer: string; claim: string } | null }) {
  if (!provider) return <>Each person signs in with a name and a password.</>
  return (
    <>
      Each person signs in with a name and a password, or with SSO at <code>{provider.issuer}</code>, whose
      claim <code>{provider.claim}</code> is the name.
    </>
  )
}
