/** `countersign models pull`: downloads a pack of the catalogue. */
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Command } from 'commander'
import { buildNetwork, packJsonText } from '../../models/install/build-pack.js'
import { CATALOGUE, findCataloguePack, type PulledPack } from '../../models/install/catalogue.js'
import { downloadFile } from '../../models/install/download.js'
import { downloadedPackDocument } from '../../models/install/downloaded-pack.js'
import type { ModelPack } from '../../models/pack/model-pack.js'
import { type Config, loadConfig } from '../config.js'
import { installPack, PACK_JSON, printInstalled } from './models-import.js'
import { action, CommandError, note, type OutputOptions, UsageError } from './output.js'
import { type Progress, progressBar, SILENT } from './progress.js'

interface PullOptions {
  mirror?: string | undefined
  replace?: boolean
}

export function registerPullCommand(models: Command): void {
  const names = CATALOGUE.filter(({ kind }) => kind !== 'built').map(({ id }) => id)
  models
    .command('pull <name>')
    .description(
      `download a pack known by name (${names.join(', ')}), check it and put it into the models folder`,
    )
    .option('--mirror <url>', 'a server that has the files of the repository under this address')
    .option('--replace', 'replace another pack of the same name; its references are not comparable')
    .option('--json', 'print JSON')
    .action(
      action(async (name: string, options: OutputOptions & PullOptions) => {
        const entry = findCataloguePack(name)
        if (entry?.kind === 'built')
          throw new UsageError(
            'unknown_pack',
            `${name} is not downloaded, but built: countersign models build ${name}.`,
          )
        if (!entry)
          throw new UsageError('unknown_pack', `No pack is known as ${name}; known are: ${names.join(', ')}.`)
        const mirror = mirrorOf(options.mirror)
        const progress = progressBar('Downloading')
        const pack = await pullPack(entry, loadConfig(), progress, { ...options, mirror }).finally(() =>
          progress.stop(),
        )
        printInstalled(options, pack)
        if (!options.json && entry.kind === 'downloaded')
          note('\nIts false match rate is a bound, not a measurement: calibrate before you rely on it.')
      }),
    )
}

/** @throws UsageError */
function mirrorOf(text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  const url = URL.canParse(text) ? new URL(text) : null
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password || url.search || url.hash)
    throw new UsageError(
      'invalid_mirror',
      'The mirror is no http(s) address without user name, query and fragment.',
    )
  return url.href.replace(/\/+$/, '')
}

/**
 * What was downloaded stays beside the packs, hidden, until the pack is in place: the next call goes on from there.
 * @throws CommandError download_failed, checksum_mismatch and those of `installPack`
 */
export async function pullPack(
  entry: PulledPack,
  config: Config,
  progress: Progress,
  { mirror, replace = false }: PullOptions,
): Promise<ModelPack> {
  const folder = join(config.modelsDir, `.${entry.id}.download`)
  const document = entry.kind === 'assembled' ? entry.document() : downloadedPackDocument(entry)
  const packJson = Buffer.from(packJsonText(document))
  const recipes = entry.kind === 'assembled' ? entry.built : []
  const source = {
    fetch: () => downloadFiles(entry, folder, mirror, progress),
    read: async (name: string) => {
      if (name === PACK_JSON) return packJson
      const recipe = recipes.find(({ file }) => file === name)
      return recipe ? Buffer.from(await buildNetwork(recipe)) : readFile(join(folder, name)).catch(() => null)
    },
  }
  const pack = await installPack(source, entry.id, config, replace, SILENT)
  await rm(folder, { recursive: true, force: true })
  return pack
}

async function downloadFiles(
  { files }: PulledPack,
  folder: string,
  mirror: string | undefined,
  progress: Progress,
): Promise<void> {
  const downloads = files.flatMap(({ download, ...file }) => (download ? [{ ...file, download }] : []))
  const total = downloads.reduce((sum, { bytes }) => sum + bytes, 0)
  let before = 0
  for (const { file, sha256, bytes, download } of downloads) {
    // Plain HTTP will do for a mirror: the checksum is what is trusted.
    const url = mirror ? `${mirror}/${download.path}` : download.url
    await downloadFile({ url, sha256, bytes }, join(folder, file), (there) =>
      progress.update(before + there, total, file),
    ).catch((error) => {
      throw error instanceof CommandError && error.code === 'download_failed'
        ? withAdvice(error, mirror)
        : error
    })
    before += bytes
  }
}

function withAdvice({ code, message }: CommandError, mirror: string | undefined): CommandError {
  const advice = mirror ? 'Check the mirror' : 'Without a way there: name a mirror with --mirror'
  return new CommandError(
    code,
    `${message} What came of it is kept for the next try. ${advice}, or bring the pack as a file: countersign models import.`,
  )
}
