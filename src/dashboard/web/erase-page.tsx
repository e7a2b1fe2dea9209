/** Right to erasure: a user by id, with the receipt. */
import { useState } from 'preact/hooks'
import type { Environment, ErasureView } from '../contract.js'
import { callTenant } from './api.js'
import { Card, Confirm, type Fact, Problem, Time } from './parts.js'
import { ReceiptCard } from './receipt-card.js'
import { useAction } from './use-action.js'

export function ErasePage({ tenantId }: { tenantId: string }) {
  const [userId, setUserId] = useState('')
  const [environment, setEnvironment] = useState<Environment>('production')
  const [asking, setAsking] = useState(false)
  const [receipt, setReceipt] = useState<ErasureView | null>(null)
  const { problem, isBusy, run } = useAction()
  const erase = () => {
    setAsking(false)
    setReceipt(null)
    return run(async () => {
      setReceipt(await callTenant(tenantId, 'POST /erase', { user_id: userId, environment }))
      setUserId('')
    })
  }
  return (
    <>
      <Card
        title="Erase a user"
        hint="Destroys the reference, the remembered captures, the kept responses, and the key that sealed them in every copy."
      >
        <form
          class="narrow"
          onSubmit={(event) => {
            event.preventDefault()
            setAsking(true)
          }}
        >
          <label for="user">User id</label>
          <input
            id="user"
            required
            autocomplete="off"
            maxLength={128}
            value={userId}
            onInput={(event) => setUserId(event.currentTarget.value)}
          />
          <label for="environment">Environment</label>
          <select
            id="environment"
            value={environment}
            onChange={(event) => setEnvironment(event.currentTarget.value as Environment)}
          >
            <option>production</option>
            <option>sandbox</option>
          </select>
          <Problem message={problem} />
          <button type="submit" class="danger" disabled={isBusy}>
            Erase…
          </button>
        </form>
      </Card>
      {receipt && <ReceiptCard receipt={receipt} rows={receiptFacts(receipt)} />}
      {asking && (
        <Confirm
          title={`Erase ${userId}?`}
          confirm="Erase for ever"
          isDanger
          onCancel={() => setAsking(false)}
          onConfirm={erase}
        >
          <p>In {environment}. There is no way back; the user can only be enrolled anew.</p>
        </Confirm>
      )}
    </>
  )
}

function receiptFacts({ user_id, erasure_id, erased_at, erased }: ErasureView): Fact[] {
  return [
    ['User', user_id],
    ['Erasure id', <code>{erasure_id}</code>],
    ['Erased at', <Time at={erased_at} />],
    ['References', erased.references],
    ['Captures', erased.captures],
    ['Kept responses', erased.idempotency_records],
  ]
}
