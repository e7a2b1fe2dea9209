/** `countersign tenant keys`: further API keys of a tenant, each with its own scopes and networks. */
import type { Command } from 'commander'
import { keyView } from '../../admin/views.js'
import { COMMAND_LINE } from '../../audit/audited-unit-of-work.js'
import { isoTime } from '../../lib/clock.js'
import { SCOPE_MEANINGS, SCOPES } from '../../tenants/key-scopes.js'
import { parseDuration } from '../lib/duration.js'
import { answers } from '../lib/output.js'
import { fields, listing } from '../lib/style.js'
import { withCore } from '../with-core.js'
import { operate, parseEnvironment } from './tenant-options.js'
import { keysView } from './tenant-view.js'

interface NamedOptions {
  environment: string
  name: string
}

interface CreateOptions extends NamedOptions {
  scope?: string[]
  network?: string[]
  certificate?: string
}

export const GRACE = ['--grace <duration>', 'how long the old key stays valid, such as 1h', '0'] as const
const ENVIRONMENT = ['--environment <environment>', 'production or sandbox', 'production'] as const

export function registerTenantKeys(tenant: Command): void {
  const keys = tenant
    .command('keys')
    .description(
      'further API keys with scopes and networks, in addition to the first key of each environment',
    )

  answers(
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
      .addHelpText(
        'after',
        `\nScopes:\n${SCOPES.map((scope) => `  ${scope.padEnd(9)}${SCOPE_MEANINGS[scope]}`).join('\n')}`,
      ),
    async (tenantName: string, options: CreateOptions) => {
      const environment = parseEnvironment(options.environment, '--environment')
      const { name, scope: scopes = null, network: networks = null, certificate = null } = options
      const grants = { name, scopes, networks, certificate }
      return operate(tenantName, async ({ keys }, found) => {
        const { key, record } = await keys.create(found, COMMAND_LINE, environment, grants)
        return { key, ...keyView(record) }
      })
    },
    (view) =>
      fields([
        ['Key', view.key],
        ['Key id', view.id],
        ['Name', view.name!],
        ['Scopes', scopesText(view.scopes)],
        ['Networks', networksText(view.networks)],
        ...(view.certificate === null ? [] : [['Certificate', view.certificate] as [string, string]]),
      ]),
    () => 'The key is shown only now; put it into the secret store of your backend.',
  )

  answers(
    keys.command('list <tenant>').description('list the keys of a tenant, ended ones too, the newest first'),
    (name: string) =>
      withCore(async ({ tenancy, store }) =>
        keysView(await store.read.apiKeys((await tenancy.find(name)).id)),
      ),
    (views) =>
      listing(
        ['KEY ID', 'ENVIRONMENT', 'NAME', 'ENDS IN', 'STATE', 'SCOPES', 'NETWORKS'],
        views.map((view) => [
          view.id,
          view.type,
          view.name ?? '–',
          view.hint,
          stateText(view, Date.now()),
          scopesText(view.scopes),
          networksText(view.networks),
        ]),
      ),
  )

  answers(
    keys
      .command('reissue <tenant>')
      .description('make a new key with the name, scopes and networks of another, and print it once')
      .option(...ENVIRONMENT)
      .requiredOption('--name <name>', 'of the key')
      .option(...GRACE),
    async (tenantName: string, { environment, name, grace }: NamedOptions & { grace: string }) => {
      const type = parseEnvironment(environment, '--environment')
      const graceMs = parseDuration(grace)
      return operate(tenantName, async ({ keys }, found) => ({
        key: await keys.reissueNamed(found, COMMAND_LINE, { type, name }, graceMs),
      }))
    },
    ({ key }) => key,
    (_view, _tenant, { grace }) => remarkOnOldKey(grace),
  )

  answers(
    keys
      .command('revoke <tenant>')
      .description(
        'revoke one further key at once; `countersign tenant revoke-key` revokes all keys of an environment',
      )
      .option(...ENVIRONMENT)
      .requiredOption('--name <name>', 'of the key'),
    async (tenantName: string, { environment, name }: NamedOptions) => {
      const type = parseEnvironment(environment, '--environment')
      return operate(tenantName, async ({ keys }, found) => ({
        revoked: (await keys.revokeNamed(found, COMMAND_LINE, { type, name })).id,
      }))
    },
    (_view, tenantName, { environment, name }) => `Revoked the ${environment} key ${name} of ${tenantName}.`,
  )
}

/** Says until when the keys stay valid that a new one replaces. @param grace as the option gives it */
export function remarkOnOldKey(grace: string): string {
  const graceMs = parseDuration(grace)
  return graceMs > 0
    ? `Shown only now. The old key stays valid until ${isoTime(Date.now() + graceMs)}.`
    : 'Shown only now. The old key is revoked.'
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
