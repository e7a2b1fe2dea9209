/** The operator's page of the model packs: which are loaded, which decides for each tenant, and the change from one to another. */
import type { LoadedPackView, ModelsView, TenantModelView } from '../../contract.js'
import { operatorAddress } from '../base/api.js'
import { useData } from '../base/data.js'
import { Badge, Card, Loaded } from '../base/parts.js'
import { type Column, Table } from '../base/table.js'
import { Time } from '../base/times.js'
import { ModelChangeCard } from '../cards/model-change-card.js'
import { OwnRateCard } from '../cards/own-rate-card.js'

export function ModelsPage() {
  const models = useData(operatorAddress('GET /models'))
  return (
    <Loaded data={models}>
      {(value) => (
        <>
          <LoadedPacks packs={value.packs} />
          <ModelChangeCard models={value} onChange={models.reload} />
          <Tenants {...value} />
          <div class="grid">
            {value.packs.map((pack) => (
              <OwnRateCard key={pack.model} pack={pack} />
            ))}
          </div>
        </>
      )}
    </Loaded>
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
        rows={packs}
        columns={[
          { name: 'Pack', isText: true, cell: ({ model }) => <code>{model}</code> },
          { name: 'Description', isText: true, cell: ({ description }) => description },
          {
            name: 'Grade',
            cell: ({ grade }) => <Badge tone={grade === 'production' ? 'good' : 'warn'}>{grade}</Badge>,
          },
          { name: 'False match rate', isNumber: true, cell: ({ fmr_in_force }) => fmr_in_force },
          { name: 'Threshold', isNumber: true, cell: ({ threshold }) => threshold.toFixed(4) },
        ]}
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
        rows={tenants}
        columns={[
          { name: 'Tenant', isText: true, cell: ({ name }) => name },
          { name: 'Decides', isText: true, cell: ({ deciding }) => <code>{deciding}</code> },
          ...(isCounted ? PROGRESS : []),
          {
            name: 'Drift',
            cell: ({ tenant_id, name }) => <a href={`#/tenants/${tenant_id}/drift`}>Drift of {name}</a>,
          },
        ]}
      />
    </Card>
  )
}

/** The columns of how far a change has come, with dashes for a tenant whose references are not counted. */
const PROGRESS: Array<Column<TenantModelView>> = [
  { name: 'Users', isNumber: true, cell: ({ progress }) => progress?.users.toLocaleString() ?? '–' },
  { name: 'Moved', isNumber: true, cell: ({ progress }) => progress?.covered.toLocaleString() ?? '–' },
  {
    name: 'Coverage',
    isNumber: true,
    cell: ({ progress }) => (progress?.coverage == null ? '–' : `${(100 * progress.coverage).toFixed(1)} %`),
  },
  { name: 'Last day', isNumber: true, cell: ({ progress }) => progress?.recent.toLocaleString() ?? '–' },
  {
    name: 'Enough at',
    isText: true,
    cell: ({ progress }) => <Time at={progress?.expected_at ?? null} day />,
  },
]
