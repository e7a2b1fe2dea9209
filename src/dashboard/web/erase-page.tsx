/** Right to erasure: a user by id, with the receipt. */
import { useState } from 'preact/hooks'
import { post } from './api.js'
import { Card, Confirm, Facts, Problem, Time } from './parts.js'

interface Receipt {
  user_id: string
  erasure_id: string
  erased_at: string
  erased: Record<string, number>
}

export function ErasePage({ tenantId }: { tenantId: string }) {
  const [userId, setUserId] = useState('')
  const [environment, setEnvironment] = useState('production')
  const [asking, setAsking] = useState(false)
  const [receipt, setReceipt] = useState<Receipt | null>(null)
  const [problem, setProblem] = useState<string | null>(null)
  const erase = async () => {
    setAsking(false)
    setProblem(null)
    setReceipt(null)
    try {
      const answer = await post<Receipt & { message?: string }>(`/tenants/${tenantId}/erase`, {
        user_id: userId,
        environment,
      })
      setReceipt(answer)
    } catch (error) {
      setProblem((error as Error).message)
    }
  }
  return (
    <>
      <Card title="Erase a user">
        <form
          onSubmit={(event) => {
            event.preventDefault()
            setAsking(true)
          }}
        >
          <label for="user">User id</label>
          <input
            id="user"
            required
            maxLength={128}
            value={userId}
            onInput={(event) => setUserId(event.currentTarget.value)}
          />
          <label for="environment">Environment</label>
          <select
            id="environment"
            value={environment}
            onChange={(event) => setEnvironment(event.currentTarget.value)}
          >
            <option>production</option>
            <option>sandbox</option>
          </select>
          <Problem message={problem} />
          <button type="submit" class="danger">
            Erase
          </button>
        </form>
      </Card>
      {receipt && (
        <Card title="Receipt">
          <Facts
            rows={[
              ['User', receipt.user_id],
              ['Erasure id', <code>{receipt.erasure_id}</code>],
              ['Erased at', <Time at={receipt.erased_at} />],
              ...Object.entries(receipt.erased).map(([name, count]): [string, string] => [
                name.replaceAll('_', ' '),
                String(count),
              ]),
            ]}
          />
        </Card>
      )}
      {asking && (
        <Confirm
          title={`Erase ${userId}?`}
          confirm="Erase for ever"
          onCancel={() => setAsking(false)}
          onConfirm={erase}
        >
          <p>
            Reference, remembered captures, kept responses and the key that sealed them are destroyed. There
            is no way back.
          </p>
        </Confirm>
      )}
    </>
  )
}
