/** The history of a tenant's policy: every version, and who changed it when. */
import type { PolicyChangeView, PolicyHashes, PolicyVersionView, PolicyView } from '../../contract.js'
import { useAddressQuery } from '../base/address-query.js'
import { get, tenantAddress } from '../base/api.js'
import { Button } from '../base/form.js'
import { Card, Empty, Problem, Waiting } from '../base/parts.js'
import { Table } from '../base/table.js'
import { Time } from '../base/times.js'
import { useAction } from '../base/use-action.js'
import { useData } from '../base/use-data.js'
import { MoreButton } from '../log-parts.js'
import { PolicyInWords } from '../policy-in-words.js'

const VERSIONS = [
  { name: 'Version' },
  { name: 'First in force' },
  { name: 'In force in' },
  { name: 'Rules', isNumber: true },
  { name: 'Details', isSilent: true },
]
const CHANGES = [{ name: 'Time' }, { name: 'Changed by' }, { name: 'Production' }, { name: 'Sandbox' }]
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
        {versions.length === 0 ? (
          <Empty title="No policy was ever in force" />
        ) : (
          <Table
            label="Versions of the policy"
            columns={VERSIONS}
            rows={versions.map((version) => ({
              key: version.hash,
              cells: [
                <code title={version.hash}>{version.hash.slice(0, SHORT)}</code>,
                <Time at={version.first_set_at} />,
                version.in_force.join(', ') || '–',
                version.rules,
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
                </span>,
              ],
              below: open === version.hash && <Version tenantId={props.tenantId} hash={version.hash} />,
            }))}
          />
        )}
      </Card>
      <Card title="Changes" hint="From the audit log, the latest first.">
        {changes.length === 0 ? (
          <Empty title="Nobody has changed the policy yet" />
        ) : (
          <Table
            label="Changes of the policy"
            columns={CHANGES}
            rows={changes.map((change) => ({
              key: change.sequence,
              cells: [
                <Time at={change.at} />,
                change.actor,
                <Change change={change} environment="production" />,
                <Change change={change} environment="sandbox" />,
              ],
            }))}
          />
        )}
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
