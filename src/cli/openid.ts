/** `countersign openid`: the applications of a tenant that ask the OpenID provider for a verdict. */
import { readFileSync } from 'node:fs'
import type { Command } from 'commander'
import { COMMAND_LINE } from '../audit/audited-unit-of-work.js'
import { isoTime } from '../lib/clock.js'
import { DEFAULT_ACR, type OpenIdClient } from '../tenants/openid-clients.js'
import { action, type OutputOptions, print } from './lib/output.js'
import { fields, listing } from './lib/style.js'
import { withCore } from './lib/with-core.js'
import { operate } from './tenant/tenant-options.js'

interface AddOptions extends OutputOptions {
  redirectUri: string[]
  acr: string
  sandbox?: boolean
  jwks?: string
}

export function registerOpenIdCommands(openid: Command): void {
  openid
    .command('add <tenant> <name>')
    .description('register an application and print its id and secret, which is shown only once')
    .requiredOption('--redirect-uri <uris...>', 'addresses to which the provider may lead back, in full')
    .option('--acr <acr>', 'least acr of an approval for the application', DEFAULT_ACR)
    .option(
      '--jwks <file>',
      'file with the public keys of the application (private_key_jwt) instead of a secret',
    )
    .option('--sandbox', 'an application of the sandbox')
    .option('--json', 'print JSON')
    .action(
      action(async (tenant: string, name: string, options: AddOptions) => {
        const jwks = options.jwks === undefined ? null : JSON.parse(readFileSync(options.jwks, 'utf8'))
        const environment = options.sandbox ? 'sandbox' : 'production'
        const made = await operate(tenant, ({ openIdClients }, found) =>
          openIdClients.add(found, COMMAND_LINE, environment, {
            ...{ name, redirectUris: options.redirectUri, acr: options.acr, jwks },
          }),
        )
        const view = { ...clientView(made), client_secret: made.secret }
        print(options, view, () =>
          fields([
            ['Client id', view.client_id],
            ['Client secret', view.client_secret ?? 'none: it signs with its own key'],
            ['Environment', view.environment],
            ['Leads back to', view.redirect_uris.join(', ')],
            ['Least acr', view.acr],
          ]),
        )
      }),
    )

  openid
    .command('list <tenant>')
    .description('list the applications of a tenant')
    .option('--json', 'print JSON')
    .action(
      action(async (tenant: string, options: OutputOptions) => {
        const views = await withCore(async ({ tenancy, store, operations }) => {
          const { id } = await tenancy.find(tenant)
          return (await operations.openIdClients.clients.of(store.read, id)).map(clientView)
        })
        print(options, views, () =>
          listing(
            ['CLIENT', 'NAME', 'ENVIRONMENT', 'ACR', 'CREATED'],
            views.map((view) => [view.client_id, view.name, view.environment, view.acr, view.created_at]),
          ),
        )
      }),
    )

  openid
    .command('remove <tenant> <client>')
    .description('remove an application: its requests are refused at once')
    .option('--json', 'print JSON')
    .action(
      action(async (tenant: string, client: string, options: OutputOptions) => {
        const view = clientView(
          await operate(tenant, ({ openIdClients }, found) =>
            openIdClients.remove(found, COMMAND_LINE, client),
          ),
        )
        print(options, view, () => `Removed ${view.name} (${view.client_id}).`)
      }),
    )
}

function clientView({ record, name, redirectUris, acr }: OpenIdClient) {
  return {
    client_id: record.id,
    name,
    environment: record.environment,
    redirect_uris: redirectUris,
    acr,
    created_at: isoTime(record.createdAt),
  }
}
