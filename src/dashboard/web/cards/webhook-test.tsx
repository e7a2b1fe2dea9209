/** The button that sends a test to a webhook, and the result next to it. */
import { useState } from 'preact/hooks'
import type { DeliveryView, WebhookView } from '../../contract.js'
import { callTenant, get, tenantAddress } from '../base/api.js'
import { useAction } from '../base/data.js'
import { Button } from '../base/form.js'
import { Badge } from '../base/parts.js'

const ASK_AGAIN_MS = 500
/** Longest wait for the result: an endpoint has 10 s to answer, and the service looks for due deliveries every second. */
const MAX_WAIT_MS = 15_000

type Result = DeliveryView | 'waits' | null

export function WebhookTest(props: { tenantId: string; webhook: WebhookView; onTried: () => void }) {
  const { tenantId, webhook, onTried } = props
  const { problem, isBusy, run } = useAction()
  const [result, setResult] = useState<Result>(null)
  const test = () =>
    run(async () => {
      setResult(null)
      const { delivery } = await callTenant(tenantId, 'POST /webhooks/test', { webhook: webhook.id })
      setResult((await outcomeOf(tenantId, delivery)) ?? 'waits')
      onTried()
    })
  return (
    <>
      <Button text="Test" about={webhook.url} aria-disabled={isBusy} onClick={() => isBusy || void test()} />
      <span class="small" role="status">
        {isBusy ? 'Sending…' : problem ? <Badge tone="bad">{problem}</Badge> : <Outcome result={result} />}
      </span>
    </>
  )
}

function Outcome({ result }: { result: Result }) {
  if (result === null) return null
  if (result === 'waits')
    return <Badge tone="warn">Earlier deliveries are sent first. See the deliveries below.</Badge>
  return result.status === 'delivered' ? (
    <Badge tone="good">The endpoint accepted the test: {result.last_outcome}</Badge>
  ) : (
    <Badge tone="bad">The endpoint did not accept the test: {result.last_outcome}</Badge>
  )
}

/** @returns null when the test was not sent in time because older deliveries to the endpoint come first */
async function outcomeOf(tenantId: string, id: string): Promise<DeliveryView | null> {
  for (const end = performance.now() + MAX_WAIT_MS; performance.now() < end; ) {
    await new Promise((resolve) => setTimeout(resolve, ASK_AGAIN_MS))
    const { deliveries } = await get(tenantAddress(tenantId, 'GET /webhooks/deliveries', {}))
    const delivery = deliveries.find((one) => one.id === id)
    if (delivery?.last_outcome) return delivery
  }
  return null
}
