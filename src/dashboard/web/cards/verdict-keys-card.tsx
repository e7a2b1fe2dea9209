/** The card of the keys whose public halves check verdicts, with the rotation of each environment. */
import { useState } from 'preact/hooks'
import type { Environment } from '../../contract.js'
import { callOperator, operatorAddress } from '../base/api.js'
import { useAction, useData } from '../base/data.js'
import { Button, Check } from '../base/form.js'
import { Badge, Card, Confirm, Problem, Waiting } from '../base/parts.js'
import { useRights } from '../base/session.js'
import { Table } from '../base/table.js'
import { Time } from '../base/times.js'

const TONES = { published: 'plain', signing: 'good', retired: 'plain' } as const

interface Asking {
  environment: Environment
  isEmergency: boolean
}

export function VerdictKeysCard() {
  const [asking, setAsking] = useState<Asking | null>(null)
  const rights = useRights()
  const mayRead = rights.operator('GET /verdict-keys')
  const keys = useData(mayRead ? operatorAddress('GET /verdict-keys') : null, 5000)
  const { problem, isBusy, run } = useAction(keys.reload)
  const rotate = ({ environment, isEmergency }: Asking) =>
    run(() => callOperator('POST /verdict-keys/rotate', { environment, emergency: isEmergency }))
  if (!mayRead) return null
  if (!keys.value) return <Waiting data={keys} />
  return (
    <Card
      title="Verdict keys"
      hint="Keys that sign the public verdicts. Their public halves are at /v1/.well-known/jwks.json."
      actions={
        rights.operator('POST /verdict-keys/rotate') &&
        (['production', 'sandbox'] as const).map((environment) => (
          <Button
            key={environment}
            text={`Rotate ${environment}…`}
            disabled={isBusy}
            onClick={() => setAsking({ environment, isEmergency: false })}
          />
        ))
      }
    >
      <Problem message={problem} />
      <Table
        label="Verdict keys"
        isFigures
        rows={keys.value.verdict_keys}
        keyOf={({ kid }) => kid}
        columns={[
          { name: 'Key', isText: true, cell: ({ kid }) => <code>{kid}</code> },
          { name: 'Environment', isText: true, cell: ({ environment }) => environment },
          { name: 'State', isText: true, cell: ({ state }) => <Badge tone={TONES[state]}>{state}</Badge> },
          { name: 'Signs from', cell: ({ signs_from }) => <Time at={signs_from} /> },
          { name: 'Published until', cell: ({ published_until }) => <Time at={published_until} /> },
        ]}
      />
      {asking && (
        <Confirm
          title={`Rotate the verdict key of ${asking.environment}?`}
          confirm="Rotate"
          isDanger={asking.isEmergency}
          onClose={() => setAsking(null)}
          onConfirm={() => void rotate(asking)}
        >
          <p>
            The next key is published now and signs in two hours. The old key stays published for 49 hours
            more.
          </p>
          <Check
            text="Somebody else may know the key: remove it at once. Verdicts under it are refused from now on."
            checked={asking.isEmergency}
            onCheck={(isEmergency) => setAsking({ ...asking, isEmergency })}
          />
        </Confirm>
      )}
    </Card>
  )
}
