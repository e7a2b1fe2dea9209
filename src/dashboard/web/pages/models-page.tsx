/** The operator's page of the model packs: which are loaded, which decides for each tenant, and the change from one to another. */
import type { LoadedPackView, ModelsView, TenantModelView } from '../../contract.js'
import { operatorAddress } from '../base/api.js'
import { Badge, Card, Problem, Waiting } from '../base/parts.js'
import { Table } from '../base/table.js'
import { Time } from '../base/times.js'
import { useData } from '../base/use-data.js'
import { ModelChangeCard } from '../cards/model-change-card.js'
import { OwnRateCard } from '../cards/own-rate-card.js'

export function ModelsPage() {
  const models = useData(operatorAddress('GET /models'))
  const { value, error, reload } = models
  if (!value) return <Waiting data={models} />
  return (
    <>
      <Problem message={error} onRetry={reload} />
      <LoadedPacks packs={value.packs} />
      <ModelChangeCard models={value} onChange={reload} />
      <Tenants {...value} />
      <div class="grid">
        {value.packs.map((pack) => (
          <OwnRateCard key={pack.model} pack={pack} />
        ))}
      </div>
    </>
  )
}

function LoadedPacks({ packs }: { packs: LoadedPackView[] }) {
  return (
    <Card
      title="Loaded packs"
      hint="The first decides for every tenant that no change has moved. The others follow."
    >
      <Table
        label="Loaded packs"
        columns={[
          { name: 'Pack', isText: true },
          { name: 'Description', isText: true },
          { name: 'Grade' },
          { name: 'False match rate', isNumber: true },
          { name: 'Threshold', isNumber: true },
        ]}
        rows={packs.map(({ model, description, grade, fmr_in_force, threshold }) => ({
          key: model,
          cells: [
            <code>{model}</code>,
            description,
            <Badge tone={grade === 'production' ? 'good' : 'warn'}>{grade}</Badge>,
            fmr_in_force,
            threshold.toFixed(4),
          ],
        }))}
      />
    </Card>
  )
}

function Tenants({ tenants, migration }: Pick<ModelsView, 'tenants' | 'migration'>) {
  const isCounted = migration !== null && !migration.is_finishing
  return (
    <Card
      title="Tenants"
      hint={
        isCounted
          ? `Users are moved when they have a template of ${migration.to}. All references were counted when the page was loaded.`
          : 'The pack that decides about the verifications of each tenant.'
      }
    >
      <Table
        label="Tenants"
        columns={[
          { name: 'Tenant', isText: true },
          { name: 'Decides', isText: true },
          ...(isCounted
            ? [
                { name: 'Users', isNumber: true },
                { name: 'Moved', isNumber: true },
                { name: 'Coverage', isNumber: true },
                { name: 'Last day', isNumber: true },
                { name: 'Enough at', isText: true },
              ]
            : []),
          { name: 'Drift' },
        ]}
        rows={tenants.map((tenant) => ({
          key: tenant.tenant_id,
          cells: [
            tenant.name,
            <code>{tenant.deciding}</code>,
            ...(isCounted ? progressCells(tenant) : []),
            <a href={`#/tenants/${tenant.tenant_id}/drift`}>Drift of {tenant.name}</a>,
          ],
        }))}
      />
    </Card>
  )
}

function progressCells({ progress }: TenantModelView) {
  if (!progress) return ['–', '–', '–', '–', '–']
  const { users, covered, coverage, recent, expected_at } = progress
  return [
    users.toLocaleString(),
    covered.toLocaleString(),
    coverage === null ? '–' : `${(100 * coverage).toFixed(1)} %`,
    recent.toLocaleString(),
    expected_at === null ? '–' : <Time at={expected_at} day />,
  ]
}
