/** The page of a tenant's policy: what an approval needs now, the editor, and the history. */
import { useState } from 'preact/hooks'
import { tenantAddress } from '../base/api.js'
import { useData } from '../base/data.js'
import { ENVIRONMENTS } from '../base/form.js'
import { Badge, Card, Empty, Problem, Waiting } from '../base/parts.js'
import { useRights } from '../base/session.js'
import { PolicyEditor } from '../cards/policy-editor.js'
import { PolicyHistory } from '../cards/policy-history.js'
import { PolicyInWords } from '../policy-in-words.js'

export function PolicyPage({ tenantId }: { tenantId: string }) {
  const page = useData(tenantAddress(tenantId, 'GET /policy'))
  const mayChange = useRights().tenant('POST /policy')
  /** A version that the person took from the history into the editor. The number makes the same version a new draft. */
  const [draft, setDraft] = useState({ text: '', taken: 0 })
  if (!page.value) return <Waiting data={page} />
  const { in_force } = page.value
  const isSame = in_force.production === in_force.sandbox
  return (
    <>
      <Problem message={page.error} onRetry={page.reload} />
      {isSame ? (
        <InForceCard tenantId={tenantId} title="Production and sandbox" hash={in_force.production} />
      ) : (
        ENVIRONMENTS.map(([environment, title]) => (
          <InForceCard key={environment} tenantId={tenantId} title={title} hash={in_force[environment]} />
        ))
      )}
      <PolicyEditor
        key={draft.taken}
        tenantId={tenantId}
        draft={draft.text}
        inForce={in_force}
        onChanged={mayChange ? page.reload : null}
      />
      <PolicyHistory
        tenantId={tenantId}
        view={page.value}
        onTake={(text) => setDraft({ text, taken: draft.taken + 1 })}
      />
    </>
  )
}

function InForceCard(props: { tenantId: string; title: string; hash: string | null }) {
  const { tenantId, title, hash } = props
  return (
    <Card
      title={title}
      hint={
        hash === null ? undefined : (
          <>
            Verdicts name it by its hash: <code>{hash}</code>
          </>
        )
      }
      actions={hash === null ? <Badge tone="plain">no policy</Badge> : <Badge tone="good">in force</Badge>}
    >
      {hash === null ? (
        <Empty title="No policy">Contract and request decide what an approval needs.</Empty>
      ) : (
        <Version tenantId={tenantId} title={title} hash={hash} />
      )}
    </Card>
  )
}

function Version({ tenantId, title, hash }: { tenantId: string; title: string; hash: string }) {
  const version = useData(tenantAddress(tenantId, 'GET /policy/version', { hash }))
  if (version.value?.hash !== hash) return <Waiting data={version} />
  return <PolicyInWords policy={version.value.policy} label={`Rules of ${title.toLowerCase()}`} />
}
