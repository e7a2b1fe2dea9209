/** The card of the keys whose public halves check verdicts, with the rotation of each environment. */
import type { Environment } from '../../contract.js'
import { callOperator, operatorAddress } from '../base/api.js'
import { useData } from '../base/data.js'
import { Button, Check } from '../base/form.js'
import { Badge, Card, useActions, Waiting } from '../base/parts.js'
import { useRights } from '../base/session.js'
import { Table } from '../base/table.js'
import { Time } from '../base/times.js'

const TONES = { published: 'plain', signing: 'good', retired: 'plain' } as const

export function VerdictKeysCard() {
  const rights = useRights()
  const mayRead = rights.operator('GET /verdict-keys')
  const keys = useData(mayRead ? operatorAddress('GET /verdict-keys') : null, 5000)
  const { isBusy, ask, feedback } = useActions(keys.reload)
  const rotate = (environment: Environment) =>
    ask({
      title: `Rotate the verdict key of ${environment}?`,
      confirm: 'Rotate',
      isDanger: (given) => given.isChecked('emergency'),
      children: (
        <>
          <p>
            The next key is published now and signs in two hours. The old key stays published for 49 hours
            more.
          </p>
          <Check
            name="emergency"
            text="Somebody else may know the key: remove it at once. Verdicts under it are refused from now on."
          />
        </>
      ),
      act: (given) =>
        callOperator('POST /verdict-keys/rotate', { environment, emergency: given.isChecked('emergency') }),
    })
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
            onClick={() => rotate(environment)}
          />
        ))
      }
    >
      {feedback}
      <Table
        label="Verdict keys"
        kind="figures"
        rows={keys.value.verdict_keys}
        columns={[
          { name: 'Key', isText: true, cell: ({ kid }) => <code>{kid}</code> },
          { name: 'Environment', isText: true, cell: ({ environment }) => environment },
          { name: 'State', isText: true, cell: ({ state }) => <Badge tone={TONES[state]}>{state}</Badge> },
          { name: 'Signs from', cell: ({ signs_from }) => <Time at={signs_from} /> },
          { name: 'Published until', cell: ({ published_until }) => <Time at={published_until} /> },
        ]}
      />
    </Card>
  )
}
