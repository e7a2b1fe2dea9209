/** Right to erasure: a user by id, with the receipt. */
import { useState } from 'preact/hooks'
import type { Environment, ErasureView } from '../contract.js'
import { callTenant } from './api.js'
import { Card, Confirm, CopyButton, Facts, Problem, Time } from './parts.js'
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
      {receipt && <ReceiptCard receipt={receipt} />}
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

function ReceiptCard({ receipt }: { receipt: ErasureView }) {
  const { references, captures, idempotency_records: responses } = receipt.erased
  return (
    <div role="status">
      <Card
        title="Receipt"
        hint="Keep it: the erasure stands in the audit log under the same id."
        actions={<CopyButton value={JSON.stringify(receipt, null, 2)} />}
      >
        <Facts
          rows={[
            ['User', receipt.user_id],
            ['Erasure id', <code>{receipt.erasure_id}</code>],
            ['Erased at', <Time at={receipt.erased_at} />],
            ['References', references],
            ['Captures', captures],
            ['Kept responses', responses],
          ]}
        />
      </Card>
    </div>
  )
}
