/** `countersign models migrate`: changes the model pack without new photos, tenant by tenant. */
import type { Command } from 'commander'
import { loadModelPack } from '../../../models/pack/model-pack.js'
import type { ModelOperations } from '../../admin/model-operations.js'
import { type MigrationView, migrationView, statusView } from '../../admin/model-views.js'
import { loadConfig } from '../../app/configuration.js'
import { COMMAND_LINE } from '../../audit/audited-unit-of-work.js'
import { type Config, modelPackDir } from '../../config/config.js'
import { falseMatchRateProblem } from '../../config/false-match-rate.js'
import { action, type OutputOptions, print, UsageError } from '../lib/output.js'
import { type Cell, fields, listing } from '../lib/style.js'
import { withCore } from '../with-core.js'

interface MigrateOptions extends OutputOptions {
  to?: string
  strictFmr?: string
  atCoverage?: string
  atDate?: string
  status?: boolean
  decide?: boolean
  back?: boolean
  finish?: boolean
  tenant?: string
  force?: boolean
}

/** One of them says what to do. */
const STEPS = ['to', 'status', 'decide', 'back', 'finish'] as const

export function registerMigrateCommand(models: Command): void {
  models
    .command('migrate')
    .description(
      'change the model pack without new photos: begin, see how far it is, move the decision, finish',
    )
    .option('--to <pack>', 'begin: strong verifications and enrollments add templates of this pack')
    .option(
      '--strict-fmr <rate>',
      'with --to: false match rate that a capture must match at (default: a tenth)',
    )
    .option('--at-coverage <share>', 'move the decision of a tenant at this share of its users, such as 0.95')
    .option('--at-date <time>', 'move the decision of every tenant at this time, such as 2027-01-31T06:00Z')
    .option('--status', 'show how many users of each tenant have a template of the new pack')
    .option('--decide', 'let the new pack decide')
    .option('--back', 'let the old pack decide again')
    .option('--finish', 'delete the templates of the pack that decides no more')
    .option('--tenant <tenant>', 'with --decide or --back: one tenant only')
    .option('--force', 'with --decide or --back: also where under 95 % of the users have a template')
    .option('--json', 'print JSON')
    .action(action(migrate))
}

async function migrate(options: MigrateOptions): Promise<void> {
  const asked = STEPS.filter((step) => options[step] !== undefined)
  const isPlan = options.atCoverage !== undefined || options.atDate !== undefined
  if (asked.length > 1 || (asked.length === 0 && !isPlan))
    throw new UsageError(
      'invalid_option',
      `Give one of ${STEPS.map((step) => `--${step}`).join(', ')}, or --at-coverage or --at-date.`,
    )
  switch (asked[0]) {
    case 'to':
      return begin(options)
    case 'decide':
      return decide(options, 'to')
    case 'back':
      return decide(options, 'from')
    case 'finish':
      return finish(options)
    case undefined:
      await withCore(({ operations }) => operations.models.setConditions(COMMAND_LINE, conditionsOf(options)))
  }
  return showStatus(options)
}

async function begin(options: MigrateOptions): Promise<void> {
  const config = loadConfig()
  const [from, to] = await Promise.all([modelOf(config), modelOf(configFor(options.to!))])
  if (from === to)
    throw new UsageError('invalid_option', `--to is ${to}, which is the pack that decides now.`)
  const strictFmr = options.strictFmr === undefined ? null : parseRate(options.strictFmr)
  const given = { from, to, strictFmr, ...conditionsOf(options) }
  const migration = await withCore(({ operations }) => operations.models.begin(COMMAND_LINE, given))
  print(
    options,
    migrationView(migration),
    () => `From now on, verifications and enrollments add templates of ${to}.`,
  )
}

async function decide(options: MigrateOptions, by: 'from' | 'to'): Promise<void> {
  const names = await withCore(async ({ operations, tenancy }) => {
    const tenant = options.tenant === undefined ? null : await tenancy.findLive(options.tenant)
    const moved = await operations.models.decide(tenant, COMMAND_LINE, by, {
      isForced: options.force === true,
    })
    return moved.map(({ name }) => name)
  })
  print(options, { moved: names }, () =>
    names.length > 0 ? `The decision has moved for ${names.join(', ')}.` : 'The decision was there already.',
  )
}

async function finish(options: MigrateOptions): Promise<void> {
  const view = await withCore(async ({ operations, store }) => {
    const migration = await operations.models.finish(COMMAND_LINE)
    const { moved, emptied, deleted } = await operations.modelSweep.sweep(migration)
    const finished = (await store.read.modelMigration()) === undefined
    return { dropped: migration.from, kept: migration.to, moved, emptied, deleted, finished }
  })
  print(options, view, () =>
    [
      fields([
        ['Pack that stays', view.kept],
        ['Pack that goes', view.dropped],
        ['References that changed', String(view.moved)],
        ['Users who are asked to enroll', String(view.emptied)],
        ['Templates deleted', String(view.deleted)],
      ]),
      view.finished
        ? 'No template of the old pack is left.'
        : 'The service deletes what calls under way still write, and ends the change within two minutes.',
    ].join('\n'),
  )
}

async function showStatus(options: MigrateOptions): Promise<void> {
  const status = await withCore(({ operations }) => statusOf(operations.models))
  print(options, status, () =>
    [
      fields([
        ['From', status.migration.from],
        ['To', status.migration.to],
        ['Begun', status.migration.started_at],
        ['Decision moves', plan(status.migration)],
      ]),
      '',
      listing(
        ['TENANT', 'DECIDES', 'USERS', 'MOVED', 'COVERAGE', 'LAST DAY', 'ENOUGH AT'],
        status.tenants.map((one): Cell[] => [
          one.name,
          one.deciding ?? '–',
          String(one.users),
          String(one.covered),
          one.coverage === null ? '–' : `${(one.coverage * 100).toFixed(1)} %`,
          String(one.recent),
          one.expected_at ?? '–',
        ]),
      ),
    ].join('\n'),
  )
}

async function statusOf(models: ModelOperations) {
  return statusView(await models.status())
}

function plan({ at_coverage: coverage, at_date: date }: MigrationView): string {
  const parts = [
    ...(coverage === null ? [] : [`at ${coverage * 100} % of a tenant’s users`]),
    ...(date === null ? [] : [`at ${date}`]),
  ]
  return parts.length > 0 ? parts.join(', or ') : 'by command only'
}

function conditionsOf({ atCoverage, atDate }: MigrateOptions) {
  return {
    atCoverage: atCoverage === undefined ? null : parseShare(atCoverage),
    atTime: atDate === undefined ? null : parseTime(atDate),
  }
}

function parseShare(text: string): number {
  const share = Number(text)
  if (!(share > 0 && share <= 1))
    throw new UsageError(
      'invalid_option',
      `--at-coverage is "${text}"; expected a share over 0 and at most 1.`,
    )
  return share
}

function parseTime(text: string): number {
  const time = Date.parse(text)
  if (Number.isNaN(time))
    throw new UsageError(
      'invalid_option',
      `--at-date is "${text}"; expected a time such as 2027-01-31T06:00Z.`,
    )
  return time
}

function parseRate(text: string): number {
  const problem = falseMatchRateProblem(text, '--strict-fmr')
  if (problem) throw new UsageError('invalid_option', problem)
  return Number(text)
}

function configFor(pack: string): Config {
  return loadConfig({ ...process.env, COUNTERSIGN_MODEL_PACK: pack, COUNTERSIGN_FOLLOWING_PACKS: '' })
}

async function modelOf(config: Config): Promise<string> {
  return (await loadModelPack(modelPackDir(config))).modelId
}
