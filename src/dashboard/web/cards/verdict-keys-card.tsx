/** The card of the keys whose public halves check verdicts, with the rotation of each environment. */
import { useState } from 'preact/hooks'
import type { Environment } from '../../contract.js'
import { callOperator, operatorAddress } from '../base/api.js'
import { Badge, Card, Confirm, Problem, Waiting } from '../base/parts.js'
import { useRights } from '../base/session.js'
import { Table } from '../base/table.js'
import { Time } from '../base/times.js'
import { useAction } from '../base/use-action.js'
import { useData } from '../base/use-data.js'

const TONES = { published: 'plain', signing: 'good', retired: 'plain' } as const

interface Asking {
  environment: Environment
  isEmergency: boolean
}

export function VerdictKeysCard() {
  const [asking, setAsking] = useState<Asking | null>(null)
  const { problem, isBusy, run } = useAction()
  const rights = useRights()
  const mayRead = rights.operator('GET /verdict-keys')
  const keys = useData(mayRead ? operatorAddress('GET /verdict-keys') : null, 5000)
  const rotate = ({ environment, isEmergency }: Asking) =>
    run(async () => {
      await callOperator('POST /verdict-keys/rotate', { environment, emergency: isEmergency })
      keys.reload()
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
          <button
            key={environment}
            type="button"
            disabled={isBusy}
            onClick={() => setAsking({ environment, isEmergency: false })}
          >
            Rotate {environment}…
          </button>
        ))
      }
    >
      <Problem message={problem} />
      <Table
        label="Verdict keys"
        isFigures
        columns={[
          { name: 'Key', isText: true },
          { name: 'Environment', isText: true },
          { name: 'State', isText: true },
          { name: 'Signs from' },
          { name: 'Published until' },
        ]}
        rows={keys.value.verdict_keys.map(({ kid, environment, state, signs_from, published_until }) => ({
          key: kid,
          cells: [
            <code>{kid}</code>,
            environment,
            <Badge tone={TONES[state]}>{state}</Badge>,
            <Time at={signs_from} />,
            published_until === null ? '–' : <Time at={published_until} />,
          ],
        }))}
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
          <label class="check">
            <input
              type="checkbox"
              checked={asking.isEmergency}
              onChange={({ currentTarget }) => setAsking({ ...asking, isEmergency: currentTarget.checked })}
            />
            Somebody else may know the key: remove it at once. Verdicts under it are refused from now on.
          </label>
        </Confirm>
      )}
    </Card>
  )
}
