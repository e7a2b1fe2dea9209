/** The page that looks up a user by id: the enrolment, the lockout with a button that ends it, the passkeys, the export, and the erasure with its receipt. */
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { Environment, ErasureView, UserView } from '../../contract.js'
import { callTenant } from '../base/api.js'
import { Button, Choice, Field, sending } from '../base/form.js'
import { Badge, Card, Empty, Facts, useActions } from '../base/parts.js'
import { useRights } from '../base/session.js'
import { Time } from '../base/times.js'
import { ReceiptCard } from '../cards/receipt-card.js'
import { UserPasskeysCard } from '../cards/user-passkeys-card.js'

/** The user that was looked up, or null when there is none in the environment. */
interface Found {
  whom: { user_id: string; environment: Environment }
  user: UserView | null
}

export function UsersPage({ tenantId }: { tenantId: string }) {
  const may = useRights().tenant
  const [userId, setUserId] = useState('')
  const [environment, setEnvironment] = useState<Environment>('production')
  const [found, setFound] = useState<Found | null>(null)
  const [receipt, setReceipt] = useState<ErasureView | null>(null)
  const { isBusy, run, ask, feedback } = useActions()
  const find = async (whom: Found['whom']) =>
    setFound({ whom, ...(await callTenant(tenantId, 'POST /users/find', whom)) })
  const clear = () => {
    setFound(null)
    setReceipt(null)
  }
  const lookUp = () => {
    clear()
    return run(() => find({ user_id: userId, environment }))
  }
  const unlock = ({ whom }: Found) =>
    run(async () => {
      await callTenant(tenantId, 'POST /users/unlock', { user_id: whom.user_id })
      await find(whom)
    })
  const exportFacts = ({ whom }: Found) =>
    run(async () => {
      const facts = await callTenant(tenantId, 'POST /users/export', whom)
      // The name of a file must not hold the user's id: it ends up in histories and logs.
      saveJson(`user-export-${facts.exported_at.slice(0, 10)}.json`, facts)
    })
  const erase = ({ whom }: Found) =>
    ask({
      // Isolating characters keep the id's direction of writing from changing the rest of the question.
      title: `Erase \u2068${whom.user_id}\u2069?`,
      confirm: 'Erase forever',
      isDanger: true,
      children: `This erases, in ${whom.environment}, the user's reference, captures and stored responses, and the key without which no copy of them can be read. It cannot be undone: the user can only be enrolled again.`,
      act: async () => {
        clear()
        setReceipt(await callTenant(tenantId, 'POST /erase', whom))
        setUserId('')
      },
    })
  return (
    <>
      <Card
        title="Find a user"
        hint="Enter the user_id that your backend sent. User ids are not stored in readable form, so they cannot be listed."
      >
        <form class="fields" onSubmit={sending(lookUp)}>
          <Field id="user" label="User id" required maxLength={128} value={userId} onText={setUserId} />
          <Choice
            id="environment"
            label="Environment"
            options={['production', 'sandbox']}
            value={environment}
            onChoose={setEnvironment}
          />
          <div class="buttons">
            <Button text="Look up" type="submit" class="primary" disabled={isBusy} />
          </div>
        </form>
        {feedback}
      </Card>
      {found && (
        <div role="status">
          {found.user ? (
            <UserCard
              user={found.user}
              actions={
                <>
                  {found.user.lockout.status === 'locked_out' && may('POST /users/unlock') && (
                    <Button text="Unlock" class="primary" disabled={isBusy} onClick={() => unlock(found)} />
                  )}
                  {may('POST /users/export') && (
                    <Button text="Export" disabled={isBusy} onClick={() => exportFacts(found)} />
                  )}
                  {may('POST /erase') && (
                    <Button text="Erase…" class="danger" disabled={isBusy} onClick={() => erase(found)} />
                  )}
                </>
              }
            />
          ) : (
            <Card title={found.whom.user_id}>
              <Empty title={`Not enrolled in ${found.whom.environment}`}>
                Unknown, or erased.
                {may('POST /erase') && ' For a day after an erasure, you can show its receipt again.'}
                {may('POST /erase') && (
                  <div class="toolbar">
                    <Button text="Show the receipt again…" disabled={isBusy} onClick={() => erase(found)} />
                  </div>
                )}
              </Empty>
            </Card>
          )}
        </div>
      )}
      {found?.user && may('POST /users/passkeys') && (
        <UserPasskeysCard
          key={`${found.whom.environment} ${found.whom.user_id}`}
          tenantId={tenantId}
          user={found.whom}
          onRevoked={() => void find(found.whom)}
        />
      )}
      {receipt && <ReceiptCard receipt={receipt} of={['User', receipt.user_id]} />}
    </>
  )
}

function UserCard(props: { user: UserView; actions: ComponentChildren }) {
  const { reference, lockout, ...user } = props.user
  return (
    <Card title={user.user_id} actions={props.actions}>
      <Facts
        rows={[
          ['Enrolled', <Time at={user.enrolled_at} />],
          ['Reference', <code>{reference.reference_id}</code>],
          ['Created or added to', <Time at={reference.created_at} />],
          [
            'Model',
            <>
              {reference.model}{' '}
              {!reference.comparable && (
                <Badge tone="warn">enrolled with another model: ask the user to enroll again</Badge>
              )}
            </>,
          ],
          ['Photos', reference.views],
          [
            'Consent',
            reference.consent ? (
              <>
                <bdi>{reference.consent.id}</bdi>, <Time at={reference.consent.agreed_at} />
              </>
            ) : (
              'not recorded'
            ),
          ],
          ['Lockout', <Lockout lockout={lockout} />],
          ['Rejections in a row', lockout.rejections],
          ['Passkeys', user.passkeys],
        ]}
      />
    </Card>
  )
}

function Lockout({ lockout: { status, ends_at } }: { lockout: UserView['lockout'] }) {
  if (status === 'none') return <Badge tone="good">none</Badge>
  if (status === 'locked_out')
    return (
      <>
        <Badge tone="warn">locked out</Badge> until <Time at={ends_at!} />
      </>
    )
  return (
    <>
      <Badge tone="bad">reference disabled</Badge> The user must enroll again, with{' '}
      <code>"replace": true</code>.
    </>
  )
}

function saveJson(name: string, value: unknown): void {
  const url = URL.createObjectURL(new Blob([JSON.stringify(value, null, 2)], { type: 'application/json' }))
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  URL.revokeObjectURL(url)
}
