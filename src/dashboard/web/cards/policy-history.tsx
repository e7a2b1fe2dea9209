/** The history of a tenant's policy: every version, and who changed it when. */
import type { PolicyChangeView, PolicyHashes, PolicyVersionView, PolicyView } from '../../contract.js'
import { useAddressQuery } from '../base/address-query.js'
import { get, tenantAddress } from '../base/api.js'
import { useAction, useData } from '../base/data.js'
import { Button } from '../base/form.js'
import { Card, Empty, Problem, Waiting } from '../base/parts.js'
import { Table } from '../base/table.js'
import { Time } from '../base/times.js'
import { MoreButton } from '../log-parts.js'
import { PolicyInWords } from '../policy-in-words.js'

/** Digits of a hash that a table shows. */
const SHORT = 12

/** @param props.onTake called with the text of a version that the person wants in the editor */
export function PolicyHistory(props: { tenantId: string; view: PolicyView; onTake: (text: string) => void }) {
  const { versions, changes } = props.view
  // A link from the audit log names the version to open.
  const [{ version: open }, change] = useAddressQuery(['version'])
  const { problem, isBusy, run } = useAction()
  const take = ({ hash }: PolicyVersionView) =>
    run(async () => {
      const { policy } = await get(tenantAddress(props.tenantId, 'GET /policy/version', { hash }))
      props.onTake(JSON.stringify(policy, null, 2))
    })
  return (
    <>
      <Card title="Versions" hint="Every version is kept: a verdict names the one under which it was given.">
        <Problem message={problem} />
        <Table
          label="Versions of the policy"
          rows={versions}
          keyOf={({ hash }) => hash}
          columns={[
            { name: 'Version', cell: ({ hash }) => <Hash hash={hash} /> },
            { name: 'First in force', cell: ({ first_set_at }) => <Time at={first_set_at} /> },
            { name: 'In force in', cell: ({ in_force }) => in_force.join(', ') || '–' },
            { name: 'Rules', isNumber: true, cell: ({ rules }) => rules },
            {
              name: 'Details',
              isSilent: true,
              cell: (version) => (
                <span class="buttons">
                  <Button
                    text="Edit"
                    about={`version ${version.hash.slice(0, SHORT)}`}
                    disabled={isBusy}
                    onClick={() => void take(version)}
                  />
                  <MoreButton
                    about={`version ${version.hash.slice(0, SHORT)}`}
                    isOpen={open === version.hash}
                    onToggle={() => change({ version: open === version.hash ? '' : version.hash })}
                  />
                </span>
              ),
            },
          ]}
          below={({ hash }) => open === hash && <Version tenantId={props.tenantId} hash={hash} />}
          empty={<Empty title="No policy was ever in force" />}
        />
      </Card>
      <Card title="Changes" hint="From the audit log, the latest first.">
        <Table
          label="Changes of the policy"
          rows={changes}
          columns={[
            { name: 'Time', cell: ({ at }) => <Time at={at} /> },
            { name: 'Changed by', cell: ({ actor }) => actor },
            { name: 'Production', cell: (one) => <Change change={one} environment="production" /> },
            { name: 'Sandbox', cell: (one) => <Change change={one} environment="sandbox" /> },
          ]}
          empty={<Empty title="Nobody has changed the policy yet" />}
        />
      </Card>
    </>
  )
}

function Version({ tenantId, hash }: { tenantId: string; hash: string }) {
  const version = useData(tenantAddress(tenantId, 'GET /policy/version', { hash }))
  if (!version.value) return <Waiting data={version} />
  return (
    <>
      <p class="muted small">
        SHA-256 <code>{hash}</code>
      </p>
      <PolicyInWords policy={version.value.policy} label={`Rules of version ${hash.slice(0, SHORT)}`} />
      <pre tabIndex={0}>{JSON.stringify(version.value.policy, null, 2)}</pre>
    </>
  )
}

function Change(props: { change: PolicyChangeView; environment: keyof PolicyHashes }) {
  const [before, after] = [props.change.previous[props.environment], props.change[props.environment]]
  if (before === after) return <>unchanged</>
  return (
    <span>
      <Hash hash={before} /> → <Hash hash={after} />
    </span>
  )
}

function Hash({ hash }: { hash: string | null }) {
  return hash === null ? <>none</> : <code title={hash}>{hash.slice(0, SHORT)}</code>
}
