/** `countersign models pull`: downloads a pack of the catalogue. */
import type { Command } from 'commander'
import type { PulledPack } from '../../../tools/pack-builders/build/catalogue-entry.js'
import { CATALOGUE, findCataloguePack } from '../../../tools/pack-builders/catalogue/catalogue.js'
import { pullPack } from '../../../tools/pack-builders/catalogue/pull-pack.js'
import { loadConfig } from '../../app/configuration.js'
import { CodedError } from '../../lib/errors.js'
import { action, CommandError, note, type OutputOptions, UsageError } from '../lib/output.js'
import { progressBar } from '../lib/progress.js'
import { installOptions, printInstalled } from './models-import.js'

export function registerPullCommand(models: Command): void {
  models
    .command('pull <name>')
    .description(
      `download a pack known by name (${pullable().join(', ')}), check it and put it into the models folder`,
    )
    .option('--mirror <url>', 'URL of a server with the files of the repository')
    .option('--replace', 'replace another pack of the same name; users enrolled with it have to enroll again')
    .option('--json', 'print JSON')
    .action(
      action(async (name: string, options: OutputOptions & { mirror?: string; replace?: boolean }) => {
        const entry = findPullable(name)
        const mirror = mirrorOf(options.mirror)
        const install = { ...installOptions(loadConfig()), replace: options.replace ?? false }
        const progress = progressBar('Downloading')
        const pack = await pullPack(entry, { ...install, mirror, onProgress: progress.update })
          .catch((error) => adviseOnDownload(error, mirror))
          .finally(() => progress.stop())
        printInstalled(options, pack)
        if (!options.json && entry.kind === 'downloaded')
          note(
            '\nThe false match rate of this pack is a bound, not a measurement: calibrate it before you rely on it.',
          )
      }),
    )
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
