/** `countersign tenant keys`: further API keys of a tenant, each with its own scopes and networks. */
import type { Command } from 'commander'
import { keyView } from '../../admin/views.js'
import { COMMAND_LINE } from '../../audit/audited-unit-of-work.js'
import { isoTime } from '../../lib/clock.js'
import { SCOPE_MEANINGS, SCOPES } from '../../tenants/key-scopes.js'
import { parseDuration } from '../lib/duration.js'
import { action, note, type OutputOptions, print } from '../lib/output.js'
import { fields, listing } from '../lib/style.js'
import { withCore } from '../with-core.js'
import { operate, parseEnvironment } from './tenant-options.js'

interface NamedOptions extends OutputOptions {
  environment: string
  name: string
}

interface CreateOptions extends NamedOptions {
  scope?: string[]
  network?: string[]
  certificate?: string
}

const ENVIRONMENT = ['--environment <environment>', 'production or sandbox', 'production'] as const

export function registerTenantKeys(tenant: Command): void {
  const keys = tenant
    .command('keys')
    .description(
      'further API keys with scopes and networks, in addition to the first key of each environment',
    )

  keys
    .command('create <tenant>')
    .description('make a further key and print it once')
    .option(...ENVIRONMENT)
    .requiredOption('--name <name>', 'name of the key, such as payments')
    .option('--scope <scopes...>', `what it may do: ${SCOPES.join(', ')}; without it, everything`)
    .option(
      '--network <networks...>',
      'networks from which it may be used, such as 10.0.0.0/8; without it, any',
    )
    .option(
      '--certificate <certificate>',
      'client certificate that callers must show: SHA-256 fingerprint, or CN=<common name>; without it, none',
    )
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `\nScopes:\n${SCOPES.map((scope) => `  ${scope.padEnd(9)}${SCOPE_MEANINGS[scope]}`).join('\n')}`,
    )
    .action(
      action(async (name: string, options: CreateOptions) => {
        const environment = parseEnvironment(options.environment, '--environment')
        const grants = {
          name: options.name,
          scopes: options.scope ?? null,
          networks: options.network ?? null,
          certificate: options.certificate ?? null,
        }
        const { key, record } = await operate(name, ({ keys }, found) =>
          keys.create(found, COMMAND_LINE, environment, grants),
        )
        const view = keyView(record)
        print(options, { key, ...view }, () =>
          fields([
            ['Key', key],
            ['Key id', view.id],
            ['Name', options.name],
            ['Scopes', scopesText(view.scopes)],
            ['Networks', networksText(view.networks)],
            ...(view.certificate === null ? [] : [['Certificate', view.certificate] as [string, string]]),
          ]),
        )
        if (!options.json) note('The key is shown only now; put it into the secret store of your backend.')
      }),
    )

  keys
    .command('list <tenant>')
    .description('list the keys of a tenant, ended ones too, the newest first')
    .option('--json', 'print JSON')
    .action(
      action(async (name: string, options: OutputOptions) => {
        const now = Date.now()
        const views = await withCore(async ({ tenancy, store }) =>
          (await store.read.apiKeys((await tenancy.find(name)).id)).map((key) => ({
            ...keyView(key),
            hint: `…${key.hint}`,
          })),
        )
        print(options, views, () =>
          listing(
            ['KEY ID', 'ENVIRONMENT', 'NAME', 'ENDS IN', 'STATE', 'SCOPES', 'NETWORKS'],
            views.map((view) => [
              view.id,
              view.type,
              view.name ?? '–',
              view.hint,
              stateText(view, now),
              scopesText(view.scopes),
              networksText(view.networks),
            ]),
          ),
        )
      }),
    )

  keys
    .command('reissue <tenant>')
    .description('make a new key with the name, scopes and networks of another, and print it once')
    .option(...ENVIRONMENT)
    .requiredOption('--name <name>', 'of the key')
    .option('--grace <duration>', 'how long the old key stays valid, such as 1h', '0')
    .option('--json', 'print JSON')
    .action(
      action(async (name: string, options: NamedOptions & { grace: string }) => {
        const type = parseEnvironment(options.environment, '--environment')
        const graceMs = parseDuration(options.grace)
        const key = await operate(name, ({ keys }, found) =>
          keys.reissueNamed(found, COMMAND_LINE, { type, name: options.name }, graceMs),
        )
        print(options, { key }, () => key)
        if (!options.json)
          note(
            graceMs > 0
              ? `Shown only now. The old key stays valid until ${isoTime(Date.now() + graceMs)}.`
              : 'Shown only now. The old key is revoked.',
          )
      }),
    )

  keys
    .command('revoke <tenant>')
    .description(
      'revoke one further key at once; `countersign tenant revoke-key` revokes all keys of an environment',
    )
    .option(...ENVIRONMENT)
    .requiredOption('--name <name>', 'of the key')
    .option('--json', 'print JSON')
    .action(
      action(async (name: string, options: NamedOptions) => {
        const type = parseEnvironment(options.environment, '--environment')
        const { id } = await operate(name, ({ keys }, found) =>
          keys.revokeNamed(found, COMMAND_LINE, { type, name: options.name }),
        )
        print(options, { revoked: id }, () => `Revoked the ${type} key ${options.name} of ${name}.`)
      }),
    )
}

function scopesText(scopes: readonly string[] | null): string {
  return scopes === null ? 'all' : scopes.join(', ')
}

function networksText(networks: readonly string[] | null): string {
  return networks === null ? 'any' : networks.join(', ')
}

function stateText(
  { revoked_at, valid_until }: { revoked_at: string | null; valid_until: string | null },
  now: number,
): string {
  if (revoked_at !== null) return 'revoked'
  if (valid_until === null) return 'active'
  return Date.parse(valid_until) > now ? `until ${valid_until}` : 'expired'
}
