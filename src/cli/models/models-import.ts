/** `countersign models import` and `pull`: bring a pack into the models folder, from a folder or archive, or of the catalogue. */
import type { Command } from 'commander'
import { type InstallOptions, installPack } from '../../../models/install/install-pack.js'
import { openPackSource } from '../../../models/install/pack-source.js'
import type { ModelPack } from '../../../models/pack/model-pack.js'
import { networkFiles } from '../../../models/pack/network-files.js'
import type { PulledPack } from '../../../tools/pack-builders/build/catalogue-entry.js'
import { CATALOGUE, findCataloguePack } from '../../../tools/pack-builders/catalogue/catalogue.js'
import { pullPack } from '../../../tools/pack-builders/catalogue/pull-pack.js'
import { loadConfig } from '../../app/configuration.js'
import { engineOptions } from '../../app/engine-options.js'
import { Engine } from '../../biometrics/engine/engine.js'
import type { Config } from '../../config/config.js'
import { CodedError } from '../../lib/errors.js'
import { declare } from '../lib/command.js'
import { CommandError, UsageError } from '../lib/output.js'
import { progressBar } from '../lib/progress.js'
import { type Field, fields } from '../lib/style.js'
import { makeDataFolder } from './prepare-models.js'

const REPLACE = {
  '--replace': 'replace another pack of the same name; users enrolled with it have to enroll again',
} as const

export function registerImportCommand(models: Command): void {
  declare(models, 'import <pack>', {
    does: 'check a pack (a folder, .tar.gz or .zip) and copy it into the models folder',
    options: REPLACE,
    async answer({ pack, replace }) {
      const install = { ...installOptions(loadConfig()), replace }
      const progress = progressBar('Importing')
      try {
        const source = await openPackSource(pack)
        return installedView(await installPack(source, pack, { ...install, onProgress: progress.update }))
      } finally {
        progress.stop()
      }
    },
    text: installedText,
  })
}

export function registerPullCommand(models: Command): void {
  declare(models, 'pull <name>', {
    does: `download a pack known by name (${pullable().join(', ')}), check it and put it into the models folder`,
    options: { '--mirror <url>': 'URL of a server with the files of the repository', ...REPLACE },
    async answer({ name, mirror: given, replace }) {
      const entry = findPullable(name)
      const mirror = mirrorOf(given)
      const install = { ...installOptions(loadConfig()), replace, mirror }
      const progress = progressBar('Downloading')
      const pack = await pullPack(entry, { ...install, onProgress: progress.update })
        .catch((error) => adviseOnDownload(error, mirror))
        .finally(() => progress.stop())
      return installedView(pack)
    },
    text: installedText,
    remark: (_view, { name }) =>
      findPullable(name).calibration
        ? null
        : '\nThe false match rate of this pack is a bound, not a measurement: calibrate it before you rely on it.',
  })
}

/** The models folder, and the trial of a pack by an engine as the service would start it. */
function installOptions(config: Config): Pick<InstallOptions, 'modelsDir' | 'tryNetworks'> {
  makeDataFolder(config)
  return {
    modelsDir: config.modelsDir,
    tryNetworks: async (packDir) => {
      const engine = await Engine.start({ ...engineOptions(config), packDir, workers: 1 })
      await engine.close()
    },
  }
}

function installedView(pack: ModelPack) {
  const { id, description, embedder, calibration } = pack.manifest
  return {
    id,
    model: pack.modelId,
    description,
    dir: pack.dir,
    dimensions: embedder.dimensions,
    calibration: calibration.source,
    files: networkFiles(pack.manifest).map(({ file, sha256, licence }) => ({ file, sha256, licence })),
  }
}

function installedText(view: ReturnType<typeof installedView>): string {
  return fields([
    ['Pack', view.model],
    ['Description', view.description],
    ['Folder', view.dir],
    ['Embedding', `${view.dimensions} dimensions`],
    ['Calibration', view.calibration],
    ...view.files.map(({ file, licence }): Field => [file, licence]),
    ['To serve it', `COUNTERSIGN_MODEL_PACK=${view.id}, and restart`],
  ])
}

function pullable(): string[] {
  return CATALOGUE.filter(({ kind }) => kind !== 'built').map(({ id }) => id)
}

/** @throws UsageError unknown_pack */
function findPullable(name: string): PulledPack {
  const entry = findCataloguePack(name)
  if (entry?.kind === 'built')
    throw new UsageError(
      'unknown_pack',
      `${name} is built, not downloaded. Run: countersign models build ${name}.`,
    )
  if (!entry)
    throw new UsageError(
      'unknown_pack',
      `There is no known pack named ${name}. Known packs: ${pullable().join(', ')}.`,
    )
  return entry
}

/** @throws UsageError invalid_mirror */
function mirrorOf(text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  const url = URL.canParse(text) ? new URL(text) : null
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password || url.search || url.hash)
    throw new UsageError(
      'invalid_mirror',
      '--mirror must be an http(s) URL without user name, query or fragment.',
    )
  return url.href.replace(/\/+$/, '')
}

function adviseOnDownload(error: unknown, mirror: string | undefined): never {
  if (!(error instanceof CodedError && error.code === 'download_failed')) throw error
  const advice = mirror ? 'Check the mirror' : 'If this machine has no way there, name a mirror with --mirror'
  throw new CommandError(
    error.code,
    `${error.message} What was downloaded is kept for the next attempt. ${advice}, or bring the pack as a file: countersign models import.`,
    { cause: error },
  )
}
