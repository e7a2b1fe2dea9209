/** `countersign openid`: the applications of a tenant that ask the OpenID provider for a verdict, and the keys that sign ID tokens. */
import { readFileSync } from 'node:fs'
import type { Command } from 'commander'
import { type Asked, commandsOn, declare } from '../../../cli/lib/command.js'
import type { CommandCore, CommandHost } from '../../../cli/lib/feature-command.js'
import { UsageError } from '../../../cli/lib/output.js'
import { environmentOf } from '../../../cli/lib/sandbox-option.js'
import { registerSigningKeys } from '../../../cli/lib/signing-keys.js'
import { fields, listing } from '../../../cli/lib/style.js'
import { signingKeyViews } from '../../public-verdicts/exports.js'
import { ENTRA_CLOUDS, entraRedirectUri, entraTenant, entraUserId } from '../entra/entra-tenant.js'
import { realmView } from '../keycloak/keycloak-realm.js'
import {
  clientView,
  DEFAULT_ACR,
  HAND_OVERS,
  type NewOpenIdClient,
  OPENID_PROFILES,
  type OpenIdClient,
  OpenIdClients,
} from '../openid-clients.js'
import { OpenIdKeyRotation } from '../openid-key-rotation.js'
import { OPENID_KEYS } from '../openid-tables.js'

const ADD_OPTIONS = {
  '--redirect-uri <uris...>': 'addresses to which the provider may lead back, in full',
  '--profile <name>': {
    does: 'product that asks, or generic for any OpenID Connect',
    choices: ['generic', 'keycloak', 'entra', ...OPENID_PROFILES],
    default: 'generic',
  },
  '--realm-issuer <url>': 'issuer of the realm of Keycloak, as its tokens name it',
  '--realm-url <url>': 'address at which this service reaches the realm; default: its issuer',
  '--user-id <name>': {
    does: 'the name of a person in Keycloak by which they are enrolled: id or user name',
    choices: ['sub', 'login_hint'],
    default: 'sub',
  },
  '--optional-message': 'keycloak: take requests without binding_message, too',
  '--acr <acr>': { does: 'least acr of an approval for the application', default: DEFAULT_ACR },
  '--jwks <file>':
    'file with the public keys of the application (private_key_jwt) instead of a secret; entra: of Entra ID, where the service cannot reach it',
  '--tenant-id <guid>': 'entra: directory (tenant) id',
  '--app-id <guid>': 'entra: application (client) id of the app registration',
  '--cloud <name>': {
    does: 'entra: cloud of the tenant',
    choices: Object.keys(ENTRA_CLOUDS),
    default: 'global',
  },
  '--metadata-url <url>': "entra: address of the tenant's metadata, where a relay passes it on",
  '--help-url <url>': 'address that a person sees who is not confirmed, such as a help page about enrollment',
  '--hand-over <rule>': {
    does: 'number: a computer may hand the capture over to a phone, which then shows a number to type at the computer',
    choices: HAND_OVERS,
    default: 'off',
  },
  '--sandbox': 'an application of the sandbox',
} as const
type AddOptions = Asked<'', typeof ADD_OPTIONS>

export function registerOpenIdCommands(openid: Command, host: CommandHost): void {
  const { tenantCommand, liveTenantCommand } = commandsOn(host)
  registerOpenIdKeysCommands(openid, host)

  declare(openid, 'add <tenant> <name>', {
    does: 'register an application and print its id and secret, which is shown only once',
    options: ADD_OPTIONS,
    async answer({ tenant, name, ...options }) {
      const keys = options.jwks === undefined ? null : JSON.parse(readFileSync(options.jwks, 'utf8'))
      const made = await host.onLiveTenant(tenant, (core, found) =>
        new OpenIdClients(core).add(found, core.actor, environmentOf(options), {
          name,
          redirectUris: options.redirectUri ?? [],
          acr: options.acr,
          jwks: keys,
          helpUrl: options.helpUrl,
          handOver: options.handOver,
          ...(options.profile === 'entra' ? entraIn(options, keys) : profileIn(options)),
        }),
      )
      return { made, view: { ...commandView(made), client_secret: made.secret } }
    },
    view: ({ view }) => view,
    text: ({ made, view }) =>
      fields([
        ['Client id', view.client_id],
        ...(made.keycloak ? [] : [['Client secret', view.client_secret ?? noSecretOf(made)] as const]),
        ['Environment', view.environment],
        ...(made.keycloak
          ? ([
              ['Realm', made.keycloak.issuer],
              ['Channel', `${channelPath(made)} below COUNTERSIGN_OPENID_URL`],
            ] as const)
          : [['Leads back to', view.redirect_uris.join(', ')] as const]),
        ['Least acr', view.acr],
        ...(made.entra ? [['Enroll as', entraUserId(made.entra, '<object id>')] as const] : []),
        ...(view.help_url === null ? [] : [['Help', view.help_url] as const]),
        ['Hand-over', view.hand_over],
      ]),
  })

  tenantCommand(openid, 'list <tenant>', {
    does: 'list the applications of a tenant',
    answer: async ({ tenant, ...core }) =>
      (await new OpenIdClients(core).of(core.store.read, tenant.id)).map(commandView),
    text: (views) =>
      listing(
        ['CLIENT', 'NAME', 'PROFILE', 'ENVIRONMENT', 'ACR', 'CREATED'],
        views.map((view) => [
          ...[view.client_id, view.name, view.profile, view.environment, view.acr, view.created_at],
        ]),
      ),
  })

  liveTenantCommand(openid, 'remove <tenant> <client>', {
    does: 'remove an application: its requests are refused at once',
    answer: async ({ tenant, actor, ...core }, { client }) =>
      commandView(await new OpenIdClients(core).remove(tenant, actor, client)),
    text: ({ name, client_id }) => `Removed ${name} (${client_id}).`,
  })
}

/** @throws UsageError */
function profileIn(options: AddOptions): Pick<NewOpenIdClient, 'profile' | 'keycloak'> {
  const { profile, realmIssuer, realmUrl, userId, optionalMessage } = options
  if (profile !== 'keycloak') {
    if (realmIssuer !== undefined || realmUrl !== undefined || optionalMessage)
      throw new UsageError(
        'invalid_option',
        '--realm-issuer, --realm-url and --optional-message are only for --profile keycloak.',
      )
    return { profile: profile === 'generic' || profile === 'entra' ? undefined : profile }
  }
  if (realmIssuer === undefined)
    throw new UsageError('invalid_option', '--profile keycloak needs --realm-issuer.')
  return {
    keycloak: {
      issuer: realmIssuer,
      url: realmUrl ?? realmIssuer,
      user: userId,
      isMessageOptional: optionalMessage,
    },
  }
}

/** @param keys pinned public keys of Entra ID, or null @throws EntraTenantError */
function entraIn(
  options: AddOptions,
  keys: unknown,
): Pick<NewOpenIdClient, 'redirectUris' | 'jwks' | 'entra'> {
  const { redirectUri = [], tenantId, appId, cloud, metadataUrl } = options
  if (tenantId === undefined || appId === undefined)
    throw new UsageError('invalid_option', '--profile entra needs --tenant-id and --app-id.')
  const entra = entraTenant({ tenantId, appId, cloud, metadataUrl, jwks: keys })
  return { redirectUris: [entraRedirectUri(entra), ...redirectUri], jwks: null, entra }
}

function noSecretOf({ entra }: OpenIdClient): string {
  return entra ? 'none: Entra ID signs its hints' : 'none: it signs with its own key'
}

/** Path at which Keycloak asks for a person. */
function channelPath({ record }: OpenIdClient): string {
  return `${record.environment === 'sandbox' ? '/sandbox' : ''}/keycloak/${record.id}`
}

function commandView(client: OpenIdClient) {
  const { handOver, keycloak } = client
  return {
    ...clientView(client),
    hand_over: handOver ?? 'off',
    ...(keycloak ? { ...realmView(keycloak), channel: channelPath(client) } : {}),
  }
}

function registerOpenIdKeysCommands(openid: Command, { withCore }: CommandHost): void {
  registerSigningKeys(openid.command('keys').description('list and rotate the keys that sign ID tokens'), {
    lead: 'two days',
    cost: 'relying parties refuse ID tokens until they have read it',
    list: () => withCore(viewsOf),
    rotate: (environments, options) =>
      withCore(async (core) => {
        await new OpenIdKeyRotation(core).rotate(environments, core.actor, options)
        return viewsOf(core)
      }),
  })
}

/** The provider's keys have rows of the same form as those of verdicts. */
async function viewsOf({ store: { read }, clock }: CommandCore) {
  return signingKeyViews(await read.statements(OPENID_KEYS.reader).all(), clock.now())
}
