/** `countersign models drift`: compares the latest verifies of tenants with those of the month before and with the calibration. */
import type { Command } from 'commander'
import { loadModelPack, type ModelPack } from '../../../../models/pack/model-pack.js'
import { commandsOn } from '../../../cli/lib/command.js'
import type { CommandHost } from '../../../cli/lib/feature-command.js'
import { type Cell, listing } from '../../../cli/lib/style.js'
import { type Config, followingPackDirs, modelPackDir } from '../../../config/config.js'
import { isoTime, systemClock } from '../../../lib/clock.js'
import { tenantModels } from '../../../tenants/tenant-models.js'
import type { DriftComparison, DriftState } from './drift-report.js'
import { type DriftView, driftViews, type ServedModels } from './drift-view.js'
import { restartDrift } from './restart-drift.js'

interface TenantDrift extends DriftView {
  tenant: string
}

const STATE_CELLS: Record<DriftState, Cell> = {
  too_few: { text: 'too few', style: 'dim' },
  steady: { text: 'steady', style: 'green' },
  shifted: { text: 'shifted', style: 'yellow' },
  alarm: { text: 'alarm', style: 'red' },
}

export function registerDriftCommand(drift: Command, host: CommandHost): void {
  commandsOn(host).coreCommand(drift, '[tenant]', {
    options: {
      '--restart': 'compare with verifications from now on only, after a change that you know of',
    },
    json: 'print JSON, with the histograms and every day',
    async answer({ operations, store, tenancy, config, actor }, { tenant: name, restart }) {
      if (restart) {
        const tenant = name === undefined ? null : await tenancy.findLive(name)
        const now = systemClock.now()
        await restartDrift(operations, tenant, actor, now)
        return { tenant: name ?? null, since: isoTime(now) }
      }
      const packs = await packsOf(config)
      const [own = ''] = packs.keys()
      const models: ServedModels = {
        calibrationOf: (model) => packs.get(model)?.calibration,
        modelOf: (tenant) => tenantModels(tenant)?.deciding ?? own,
      }
      const tenants = name === undefined ? await store.read.tenants() : [await tenancy.find(name)]
      const all: TenantDrift[] = []
      for (const tenant of tenants.filter(({ deletedAt }) => deletedAt === null))
        for (const view of await driftViews(tenant, store.read, systemClock.now(), models))
          all.push({ tenant: tenant.name, ...view })
      return all
    },
    text(views) {
      if (!Array.isArray(views))
        return `Verifications of ${views.tenant ?? 'all tenants'} are compared with those from ${views.since} on.`
      return views.length === 0
        ? 'No verification was counted within five weeks.'
        : views.map(textOf).join('\n\n')
    },
  })
}

/** The configured packs by model, the service's own first; fewer where they are not on this machine, as on one that only runs commands. */
async function packsOf(config: Config): Promise<Map<string, ModelPack>> {
  const packs = new Map<string, ModelPack>()
  for (const dir of [modelPackDir(config), ...followingPackDirs(config)]) {
    const pack = await loadModelPack(dir).catch(() => null)
    if (pack) packs.set(pack.modelId, pack)
  }
  return packs
}

function textOf({ tenant, model, decides, since, windows, month, comparisons }: TenantDrift): string {
  const { latest, week } = windows
  const notes = [
    ...(decides ? [] : ['decides no more']),
    ...(since === null ? [] : [`compared from ${since} on`]),
  ]
  const note = notes.length === 0 ? '' : ` (${notes.join(', ')})`
  return [
    `${tenant}, ${model}${note}: ${latest.verifies} verifications since ${latest.from}, ${week.verifies} in the week, ${month.verifies} in the month before it`,
    listing(['WINDOW', 'MEASURE', 'AGAINST', 'PSI', 'BY CHANCE UP TO', 'STATE'], comparisons.map(rowOf)),
  ].join('\n')
}

function rowOf({ window, measure, against, psi, noise, state }: DriftComparison): Cell[] {
  const isKnown = state !== 'too_few'
  const shown = (value: number) => (isKnown ? value.toFixed(3) : '-')
  return [window, measure, against, shown(psi), shown(noise), STATE_CELLS[state]]
}
