/** Shows the receipt of an erasure, for the records of the tenant. */
import { Card, type Fact, Facts } from '../base/parts.js'
import { CopyButton } from '../base/reveal.js'

export function ReceiptCard({ receipt, rows }: { receipt: object; rows: Fact[] }) {
  return (
    <div role="status">
      <Card
        title="Receipt"
        hint="Keep it. The audit log has the erasure under the same id."
        actions={<CopyButton value={JSON.stringify(receipt, null, 2)} />}
      >
        <Facts rows={rows} />
      </Card>
    </div>
  )
}
