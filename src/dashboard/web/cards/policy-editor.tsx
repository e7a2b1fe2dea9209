/** The editor of a tenant's policy: JSON, its faults while it is typed, what it asks for in words, and what it would ask of an example. */
import { useEffect, useState } from 'preact/hooks'
import type { CheckedPolicy, PolicyHashes } from '../../contract.js'
import { callTenant, get, tenantAddress } from '../base/api.js'
import { useAction } from '../base/data.js'
import { Button, Check, Field } from '../base/form.js'
import { Card, Empty, Problem, useActions } from '../base/parts.js'
import { DecidingRule, PolicyInWords } from '../policy-in-words.js'

/** Milliseconds after the last key until the draft is checked. */
const PAUSE_MS = 300
const EXAMPLE_ACTION = {
  type: 'payment',
  amount: '12500.00',
  currency: 'EUR',
  payee: { name: 'Acme GmbH', account: 'DE89370400440532013000' },
}
const EXAMPLE_POLICY = {
  rules: [
    {
      name: 'large-payments',
      when: { types: ['payment', 'payment_batch'], min_amount: { EUR: '10000' } },
      require: { acr: 'urn:countersign:acr:face-active', second_approver: { within_minutes: 30 } },
    },
    { name: 'all-else', require: { acr: 'urn:countersign:acr:face-no-motion' } },
  ],
}
const lines = (value: unknown) => JSON.stringify(value, null, 2)

/**
 * @param props.draft text to begin with; empty for the policy in force
 * @param props.onChanged called after a change; null for a person who may not change the policy
 */
export function PolicyEditor(props: {
  tenantId: string
  draft: string
  inForce: PolicyHashes
  onChanged: (() => void) | null
}) {
  const { tenantId, inForce, onChanged } = props
  const [text, setText] = useState<string | null>(props.draft || null)
  const [action, setAction] = useState(lines(EXAMPLE_ACTION))
  const [checked, setChecked] = useState<CheckedPolicy | null>(null)
  const { isBusy, isDone, forget, ask, feedback } = useActions()
  const checking = useAction()
  const hash = inForce.production ?? inForce.sandbox
  useEffect(() => {
    if (text !== null) return
    if (hash === null) setText(lines(EXAMPLE_POLICY))
    else
      void checking.run(async () => {
        const version = await get(tenantAddress(tenantId, 'GET /policy/version', { hash }))
        setText(lines(version.policy))
      })
  }, [])
  useEffect(() => {
    if (text === null) return
    let isLatest = true
    const timer = setTimeout(() => {
      callTenant(tenantId, 'POST /policy/check', { policy: text, action }).then(
        (found) => isLatest && setChecked(found),
        (error: Error) => isLatest && setChecked({ ...NOTHING_FOUND, problem: error.message }),
      )
    }, PAUSE_MS)
    return () => {
      isLatest = false
      clearTimeout(timer)
    }
  }, [text, action])
  const change = (policy: string | null) => {
    const isClearing = policy === null
    ask({
      title: isClearing ? 'Clear the policy?' : 'Put the draft in force?',
      confirm: isClearing ? 'Clear' : 'Put in force',
      isDanger: (given) => isClearing || !given.isChecked('sandbox-only'),
      children: (given) => (
        <>
          <p>
            {isClearing
              ? 'Without a policy, only contract and request decide what an approval needs.'
              : 'Every verdict from now on obeys the draft, also of requests that are under way.'}{' '}
            The audit log records who changed it.
          </p>
          {!isClearing && checked?.policy?.retention !== undefined && !given.isChecked('sandbox-only') && (
            <p>
              <strong>The draft erases users in production whom nobody uses.</strong> Days count from now.
            </p>
          )}
          <Check name="sandbox-only" text="Only in the sandbox" initial={!isClearing} />
        </>
      ),
      act: async (given) => {
        await callTenant(tenantId, 'POST /policy', { policy, sandbox_only: given.isChecked('sandbox-only') })
        onChanged!()
      },
    })
  }
  return (
    <Card
      title={onChanged ? 'Edit' : 'Check'}
      hint={
        <>
          A draft changes nothing until it is put in force. The{' '}
          <a href="/docs/guides/policy">guide to policies</a> explains each field.
        </>
      }
    >
      <div class="grid">
        <div>
          <Field
            id="policy-draft"
            class="code"
            label="Policy (JSON)"
            rows={22}
            spellcheck={false}
            autocapitalize="off"
            value={text ?? ''}
            aria-describedby="policy-fault"
            aria-invalid={checked?.problem ? 'true' : 'false'}
            onText={(typed) => {
              forget()
              setText(typed)
            }}
          />
        </div>
        <div>
          <div id="policy-fault">
            <Problem message={checking.problem ?? checked?.problem ?? null} />
          </div>
          {checked?.policy ? (
            <>
              <p class="muted small">
                SHA-256 <code>{checked.hash}</code>
              </p>
              <PolicyInWords policy={checked.policy} label="Rules of the draft" />
            </>
          ) : (
            <Empty title="The rules are shown here in words once the draft has no fault" />
          )}
          <Field
            id="policy-action"
            class="code"
            label="Example action (JSON or text)"
            rows={7}
            spellcheck={false}
            autocapitalize="off"
            value={action}
            onText={setAction}
          />
          <div role="status" aria-label="What the draft asks of the example">
            {checked?.decides && <DecidingRule rule={checked.decides} />}
          </div>
        </div>
      </div>
      {feedback}
      <p role="status">{isDone && 'Changed. It holds from the next verdict on.'}</p>
      {onChanged && (
        <div class="toolbar">
          <Button
            text="Put in force…"
            class="primary"
            disabled={isBusy || !checked?.policy}
            onClick={() => change(text)}
          />
          {hash !== null && (
            <Button text="Clear…" class="danger" disabled={isBusy} onClick={() => change(null)} />
          )}
        </div>
      )}
    </Card>
  )
}

const NOTHING_FOUND = { hash: null, policy: null, decides: null }
