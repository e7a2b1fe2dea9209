/** Shows the receipt of an erasure, for the records of the tenant. */
import type { ErasureView, TenantErasureView } from '../../contract.js'
import { Card, type Fact, Facts } from '../base/parts.js'
import { CopyButton } from '../base/reveal.js'
import { Time } from '../base/times.js'

export function ReceiptCard(props: {
  receipt: ErasureView | TenantErasureView
  /** Name of the user or the tenant that was erased. */
  of: Fact
  toDo?: string
}) {
  const { receipt, of, toDo } = props
  const { erased } = receipt
  return (
    <div role="status">
      <Card
        title="Receipt"
        hint="Keep it. The audit log has the erasure under the same id."
        actions={<CopyButton value={JSON.stringify(receipt, null, 2)} />}
      >
        <Facts
          rows={[
            of,
            ['Erasure id', <code>{receipt.erasure_id}</code>],
            ['Erased at', <Time at={receipt.erased_at} />],
            'users' in erased && ['Users', erased.users],
            ['References', erased.references],
            ['Captures', erased.captures],
            ['Passkeys', erased.passkeys],
            ['Kept responses', erased.idempotency_records],
            toDo && ['To do', toDo],
          ]}
        />
      </Card>
    </div>
  )
}
