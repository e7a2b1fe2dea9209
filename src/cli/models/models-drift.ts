/** `countersign models drift`: compares the latest verifies of tenants with those of the month before and with the calibration. */
import type { Command } from 'commander'
import { loadModelPack, type ModelPack } from '../../../models/pack/model-pack.js'
import { type Config, modelPackDir } from '../../config/config.js'
import type { DriftComparison, DriftState } from '../../drift/drift-report.js'
import { type DriftView, driftViews } from '../../drift/drift-view.js'
import { systemClock } from '../../lib/clock.js'
import type { TenantRecord } from '../../storage/records.js'
import { action, type OutputOptions, print } from '../lib/output.js'
import { type Cell, listing } from '../lib/style.js'
import { withCore } from '../lib/with-core.js'

interface TenantDrift extends DriftView {
  tenant: string
}

const STATE_CELLS: Record<DriftState, Cell> = {
  too_few: { text: 'too few', style: 'dim' },
  steady: { text: 'steady', style: 'green' },
  shifted: { text: 'shifted', style: 'yellow' },
  alarm: { text: 'alarm', style: 'red' },
}

export function registerDriftCommand(models: Command): void {
  models
    .command('drift [tenant]')
    .description(
      'compare the latest verifies, of one tenant or of all, with those of the month before and with the calibration',
    )
    .option('--json', 'print JSON, with the histograms and every day')
    .action(
      action(async (name: string | undefined, options: OutputOptions) => {
        const views = await withCore(async ({ store, tenancy }, config) => {
          const pack = await packOf(config)
          const tenants = name === undefined ? await store.read.tenants() : [await tenancy.find(name)]
          const all: TenantDrift[] = []
          for (const tenant of tenants.filter(({ deletedAt }) => deletedAt === null))
            all.push(...(await viewsOf(tenant, store.read, pack)))
          return all
        })
        print(options, views, () =>
          views.length === 0 ? 'No verify was counted within five weeks.' : views.map(textOf).join('\n\n'),
        )
      }),
    )
}

async function viewsOf(
  { id, name }: TenantRecord,
  read: Parameters<typeof driftViews>[0],
  pack: ModelPack | null,
): Promise<TenantDrift[]> {
  const views = await driftViews(read, id, systemClock.now(), (model) =>
    model === pack?.modelId ? pack.calibration : undefined,
  )
  return views.map((view) => ({ tenant: name, ...view }))
}

/** The configured pack; null where it is not on this machine, as on one that only runs commands. */
async function packOf(config: Config): Promise<ModelPack | null> {
  return loadModelPack(modelPackDir(config)).catch(() => null)
}

function textOf({ tenant, model, windows, month, comparisons }: TenantDrift): string {
  const { latest, week } = windows
  return [
    `${tenant}, ${model}: ${latest.verifies} verifies since ${latest.from}, ${week.verifies} in the week, ${month.verifies} in the month before it`,
    listing(['WINDOW', 'MEASURE', 'AGAINST', 'PSI', 'BY CHANCE UP TO', 'STATE'], comparisons.map(rowOf)),
  ].join('\n')
}

function rowOf({ window, measure, against, psi, noise, state }: DriftComparison): Cell[] {
  const isKnown = state !== 'too_few'
  const shown = (value: number) => (isKnown ? value.toFixed(3) : '-')
  return [window, measure, against, shown(psi), shown(noise), STATE_CELLS[state]]
}
