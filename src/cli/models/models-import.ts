/** `countersign models import`: copies a pack from a folder or archive into the models folder. */
import type { Command } from 'commander'
import { type InstallOptions, installPack } from '../../../models/install/install-pack.js'
import { openPackSource } from '../../../models/install/pack-source.js'
import type { ModelPack } from '../../../models/pack/model-pack.js'
import { networkFiles } from '../../../models/pack/network-files.js'
import { loadConfig } from '../../app/configuration.js'
import { engineOptions } from '../../app/engine-options.js'
import { Engine } from '../../biometrics/engine/engine.js'
import type { Config } from '../../config/config.js'
import { action, type OutputOptions, print } from '../lib/output.js'
import { progressBar } from '../lib/progress.js'
import { type Field, fields } from '../lib/style.js'
import { makeDataFolder } from './prepare-models.js'

export function registerImportCommand(models: Command): void {
  models
    .command('import <pack>')
    .description('check a pack (a folder, .tar.gz or .zip) and copy it into the models folder')
    .option('--replace', 'replace another pack of the same name; users enrolled with it have to enroll again')
    .option('--json', 'print JSON')
    .action(
      action(async (path: string, options: OutputOptions & { replace?: boolean }) => {
        const install = { ...installOptions(loadConfig()), replace: options.replace ?? false }
        const progress = progressBar('Importing')
        try {
          const source = await openPackSource(path)
          printInstalled(
            options,
            await installPack(source, path, { ...install, onProgress: progress.update }),
          )
        } finally {
          progress.stop()
        }
      }),
    )
}

/** The models folder, and the trial of a pack by an engine as the service would start it. */
export function installOptions(config: Config): Pick<InstallOptions, 'modelsDir' | 'tryNetworks'> {
  makeDataFolder(config)
  return {
    modelsDir: config.modelsDir,
    tryNetworks: async (packDir) => {
      const engine = await Engine.start({ ...engineOptions(config), packDir, workers: 1 })
      await engine.close()
    },
  }
}

/** Reports the installed pack and how to serve it. */
export function printInstalled(options: OutputOptions, pack: ModelPack): void {
  const { id, description, embedder, calibration } = pack.manifest
  const view = {
    id,
    model: pack.modelId,
    description,
    dir: pack.dir,
    dimensions: embedder.dimensions,
    calibration: calibration.source,
    files: networkFiles(pack.manifest).map(({ file, sha256, licence }) => ({ file, sha256, licence })),
  }
  print(options, view, () =>
    fields([
      ['Pack', view.model],
      ['Description', view.description],
      ['Folder', view.dir],
      ['Embedding', `${view.dimensions} dimensions`],
      ['Calibration', view.calibration],
      ...view.files.map(({ file, licence }): Field => [file, licence]),
      ['To serve it', `COUNTERSIGN_MODEL_PACK=${id}, and restart`],
    ]),
  )
}
