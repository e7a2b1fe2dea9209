/** `countersign tenant keys`: further API keys of a tenant, each with its own scopes and networks. */
import type { Command } from 'commander'
import { keyState, keyView } from '../../admin/views.js'
import { isoTime } from '../../lib/clock.js'
import { SCOPE_MEANINGS, SCOPES } from '../../tenants/key-scopes.js'
import { parseDuration } from '../lib/duration.js'
import { fields, listing } from '../lib/style.js'
import { liveTenantCommand, tenantCommand } from '../with-core.js'
import { parseEnvironment } from './tenant-options.js'
import { keysView } from './tenant-view.js'

export const GRACE = {
  '--grace <duration>': {
    does: 'how long the old key stays valid, such as 1h',
    default: '0',
    parse: parseDuration,
  },
} as const
const ENVIRONMENT = {
  '--environment <environment>': {
    does: 'production or sandbox',
    default: 'production',
    parse: parseEnvironment,
  },
} as const
const OF_KEY = { ...ENVIRONMENT, '--name <name>': { does: 'of the key', required: true } } as const

export function registerTenantKeys(tenant: Command): void {
  const keys = tenant
    .command('keys')
    .description(
      'further API keys with scopes and networks, in addition to the first key of each environment',
    )

  liveTenantCommand(keys, 'create <tenant>', {
    does: 'make a further key and print it once',
    options: {
      ...ENVIRONMENT,
      '--name <name>': { does: 'name of the key, such as payments', required: true },
      '--scope <scopes...>': `what it may do: ${SCOPES.join(', ')}; without it, everything`,
      '--network <networks...>': 'networks from which it may be used, such as 10.0.0.0/8; without it, any',
      '--certificate <certificate>':
        'client certificate that callers must show: SHA-256 fingerprint, or CN=<common name>; without it, none',
    },
    help: `\nScopes:\n${SCOPES.map((scope) => `  ${scope.padEnd(9)}${SCOPE_MEANINGS[scope]}`).join('\n')}`,
    async answer({ operations, tenant, actor }, { environment, name, ...asked }) {
      const { scope: scopes = null, network: networks = null, certificate = null } = asked
      const grants = { name, scopes, networks, certificate }
      const { key, record } = await operations.keys.create(tenant, actor, environment, grants)
      return { key, ...keyView(record) }
    },
    text: (view) =>
      fields([
        ['Key', view.key],
        ['Key id', view.id],
        ['Name', view.name!],
        ['Scopes', scopesText(view.scopes)],
        ['Networks', networksText(view.networks)],
        ...(view.certificate === null ? [] : [['Certificate', view.certificate] as const]),
      ]),
    remark: () => 'The key is shown only now; put it into the secret store of your backend.',
  })

  tenantCommand(keys, 'list <tenant>', {
    does: 'list the keys of a tenant, ended ones too, the newest first',
    answer: async ({ store, tenant }) => keysView(await store.read.apiKeys(tenant.id)),
    text: (views) =>
      listing(
        ['KEY ID', 'ENVIRONMENT', 'NAME', 'ENDS IN', 'STATE', 'SCOPES', 'NETWORKS'],
        views.map((view) => [
          ...[view.id, view.type, view.name ?? '–', view.hint, stateText(view)],
          ...[scopesText(view.scopes), networksText(view.networks)],
        ]),
      ),
  })

  liveTenantCommand(keys, 'reissue <tenant>', {
    does: 'make a new key with the name, scopes and networks of another, and print it once',
    options: { ...OF_KEY, ...GRACE },
    answer: async ({ operations, tenant, actor }, { environment, name, grace }) => ({
      key: await operations.keys.reissue(tenant, actor, environment, grace, name),
    }),
    text: ({ key }) => key,
    remark: (_view, { grace }) => remarkOnOldKey(grace),
  })

  liveTenantCommand(keys, 'revoke <tenant>', {
    does: 'revoke one further key at once; `countersign tenant revoke-key` revokes all keys of an environment',
    options: OF_KEY,
    answer: async ({ operations, tenant, actor }, { environment, name }) => ({
      revoked: (await operations.keys.revokeNamed(tenant, actor, environment, name)).id,
    }),
    text: (_view, { tenant, environment, name }) => `Revoked the ${environment} key ${name} of ${tenant}.`,
  })
}

/** Says until when the keys stay valid that a new one replaces. */
export function remarkOnOldKey(graceMs: number): string {
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

function stateText(view: ReturnType<typeof keyView>): string {
  const state = keyState(view, Date.now())
  return state === 'grace' ? `until ${view.valid_until}` : state
}
