/** `countersign models migrate`: changes the model pack without new photos, tenant by tenant. */
import type { Command } from 'commander'
import { loadModelPack } from '../../../models/pack/model-pack.js'
import type { MigrationConditions } from '../../admin/model-operations.js'
import { type MigrationView, migrationView, statusView } from '../../admin/model-views.js'
import { loadConfig } from '../../app/configuration.js'
import { modelPackDir } from '../../config/config.js'
import type { ModelMigrationRecord } from '../../storage/records.js'
import { type Asked, declare, expected, TOLD, type Told } from '../lib/command.js'
import { UsageError } from '../lib/output.js'
import { type Cell, fields, listing } from '../lib/style.js'
import { parseFmr } from '../tenant/tenant-options.js'
import { withCore } from '../with-core.js'

/** One of them says what to do. */
const STEPS = ['to', 'status', 'decide', 'back', 'finish'] as const

const OPTIONS = {
  '--to <pack>': 'begin: strong verifications and enrollments add templates of this pack',
  '--strict-fmr <rate>': {
    does: 'with --to: false match rate that a capture must match at (default: a tenth)',
    parse: parseFmr,
  },
  '--at-coverage <share>': {
    does: 'move the decision of a tenant at this share of its users, such as 0.95',
    parse: parseShare,
  },
  '--at-date <time>': {
    does: 'move the decision of every tenant at this time, such as 2027-01-31T06:00Z',
    parse: parseTime,
  },
  '--status': 'show how many users of each tenant have a template of the new pack',
  '--decide': 'let the new pack decide',
  '--back': 'let the old pack decide again',
  '--finish': 'delete the templates of the pack that decides no more',
  '--tenant <tenant>': 'with --decide or --back: one tenant only',
  '--force': 'with --decide or --back: also where under 95 % of the users have a template',
} as const
type MigrateOptions = Asked<'', typeof OPTIONS>

export function registerMigrateCommand(models: Command): void {
  declare(models, 'migrate', {
    does: 'change the model pack without new photos: begin, see how far it is, move the decision, finish',
    options: OPTIONS,
    async answer(options): Promise<Told> {
      // An unset variable of a script gives --to an empty name, which is no change of the conditions.
      const asked = STEPS.filter((step) => options[step] || options[step] === '')
      const isPlan = options.atCoverage !== undefined || options.atDate !== undefined
      if (asked.length > 1 || (asked.length === 0 && !isPlan))
        throw new UsageError(
          'invalid_option',
          `Give one of ${STEPS.map((step) => `--${step}`).join(', ')}, or --at-coverage or --at-date.`,
        )
      const conditions = { atCoverage: options.atCoverage ?? null, atTime: options.atDate ?? null }
      if (options.to !== undefined)
        return begin(options.to, { strictFmr: options.strictFmr ?? null, ...conditions })
      if (options.decide) return decide(options, 'to')
      if (options.back) return decide(options, 'from')
      if (options.finish) return finish()
      return withCore(async ({ operations: { models }, actor }) => {
        if (!options.status) await models.setConditions(actor, conditions)
        const status = statusView(await models.status())
        return { view: status, text: statusText(status) }
      })
    },
    ...TOLD,
  })
}

async function begin(
  pack: string,
  plan: Pick<ModelMigrationRecord, 'strictFmr'> & MigrationConditions,
): Promise<Told> {
  const packs = { COUNTERSIGN_MODEL_PACK: pack, COUNTERSIGN_FOLLOWING_PACKS: '' }
  const configs = [loadConfig(), loadConfig({ ...process.env, ...packs })]
  const [from, to] = await Promise.all(
    configs.map(async (config) => (await loadModelPack(modelPackDir(config))).modelId),
  )
  if (from === to)
    throw new UsageError('invalid_option', `--to is ${to}, which is the pack that decides now.`)
  const migration = await withCore(({ operations, actor }) =>
    operations.models.begin(actor, { from: from!, to: to!, ...plan }),
  )
  return {
    view: migrationView(migration),
    text: `From now on, verifications and enrollments add templates of ${to}.`,
  }
}

function decide({ tenant: name, force: isForced }: MigrateOptions, by: 'from' | 'to'): Promise<Told> {
  return withCore(async ({ operations, tenancy, actor }) => {
    const tenant = name === undefined ? null : await tenancy.findLive(name)
    const records = await operations.models.decide(tenant, actor, by, { isForced })
    const moved = records.map(({ name }) => name)
    const text =
      moved.length > 0 ? `The decision has moved for ${moved.join(', ')}.` : 'The decision was there already.'
    return { view: { moved }, text }
  })
}

function finish(): Promise<Told> {
  return withCore(async ({ operations, store, actor }) => {
    const { from: dropped, to: kept, ...migration } = await operations.models.finish(actor)
    const swept = await operations.modelSweep.sweep({ from: dropped, to: kept, ...migration })
    const { moved, emptied, deleted } = swept
    const finished = (await store.read.modelMigration()) === undefined
    const text = [
      fields([
        ['Pack that stays', kept],
        ['Pack that goes', dropped],
        ['References that changed', String(moved)],
        ['Users who are asked to enroll', String(emptied)],
        ['Templates deleted', String(deleted)],
      ]),
      finished
        ? 'No template of the old pack is left.'
        : 'The service deletes what calls under way still write, and ends the change within two minutes.',
    ].join('\n')
    return { view: { dropped, kept, moved, emptied, deleted, finished }, text }
  })
}

function statusText({ migration, tenants }: ReturnType<typeof statusView>): string {
  return [
    fields([
      ['From', migration.from],
      ['To', migration.to],
      ['Begun', migration.started_at],
      ['Decision moves', plan(migration)],
    ]),
    '',
    listing(
      ['TENANT', 'DECIDES', 'USERS', 'MOVED', 'COVERAGE', 'LAST DAY', 'ENOUGH AT'],
      tenants.map((one): Cell[] => [
        ...[one.name, one.deciding ?? '–', String(one.users), String(one.covered)],
        one.coverage === null ? '–' : `${(one.coverage * 100).toFixed(1)} %`,
        ...[String(one.recent), one.expected_at ?? '–'],
      ]),
    ),
  ].join('\n')
}

function plan({ at_coverage: coverage, at_date: date }: MigrationView): string {
  const parts = [
    ...(coverage === null ? [] : [`at ${coverage * 100} % of a tenant’s users`]),
    ...(date === null ? [] : [`at ${date}`]),
  ]
  return parts.length > 0 ? parts.join(', or ') : 'by command only'
}

function parseShare(text: string, option: string): number {
  const share = Number(text)
  return expected(text, option, share > 0 && share <= 1 ? share : undefined, 'a share over 0 and at most 1')
}

function parseTime(text: string, option: string): number {
  const time = Date.parse(text)
  return expected(text, option, Number.isNaN(time) ? undefined : time, 'a time such as 2027-01-31T06:00Z')
}
