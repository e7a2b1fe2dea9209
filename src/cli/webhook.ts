/** `countersign webhook`: a tenant's webhook endpoints and deliveries. These commands only write the outbox; the service sends. */
import type { Command } from 'commander'
import { webhookDeliveryView, webhookView } from '../admin/views.js'
import { COMMAND_LINE } from '../audit/audited-unit-of-work.js'
import type { TenantRecord } from '../storage/records.js'
import type { StoreReader } from '../storage/store.js'
import { action, note, type OutputOptions, print, UsageError } from './lib/output.js'
import { counted, listing } from './lib/style.js'
import { withCore } from './with-core.js'

/** Largest number of deliveries that are printed. */
const MAX_DELIVERIES = 200

export function registerWebhookCommands(webhook: Command): void {
  webhook
    .command('add <tenant> <url>')
    .description('send events about a tenant’s users to an https URL')
    .option(
      '--events <types>',
      'only these events, separated by commas, such as user.locked_out,user.disabled',
    )
    .option('--sandbox', 'send events of the sandbox instead of production')
    .option('--json', 'print JSON')
    .action(
      action(
        async (
          tenant: string,
          url: string,
          options: OutputOptions & { events?: string; sandbox?: boolean },
        ) => {
          const endpoint = await withCore(async ({ tenancy, operations }) =>
            operations.webhooks.add(await tenancy.find(tenant), COMMAND_LINE, {
              url,
              environment: options.sandbox ? 'sandbox' : 'production',
              events: options.events?.split(',').map((name) => name.trim()) ?? [],
            }),
          )
          const view = webhookView(endpoint)
          print(options, view, () => view.id)
          if (!options.json)
            note(
              `Signed with the tenant's signing secret. Try it: countersign webhook test ${tenant} ${view.id}`,
            )
        },
      ),
    )

  webhook
    .command('list <tenant>')
    .description("list a tenant's webhooks with their state and number of waiting deliveries")
    .option('--json', 'print JSON')
    .action(
      action(async (name: string, options: OutputOptions) => {
        await withCore(async ({ tenancy, store }) => {
          const { id } = await tenancy.find(name)
          const views = await Promise.all(
            (await store.read.webhookEndpoints(id)).map(async (endpoint) => ({
              ...webhookView(endpoint),
              waiting: await store.read.pendingWebhooks(endpoint.id),
              dropped: endpoint.dropped,
            })),
          )
          print(options, views, () =>
            listing(
              ['ID', 'ENVIRONMENT', 'EVENTS', 'STATE', 'LAST SUCCESS', 'WAITING', 'DROPPED', 'URL'],
              views.map((view) => [
                view.id,
                view.environment,
                view.events.join(', ') || 'all',
                view.health === 'failing'
                  ? `failing, ${view.failures} times: ${view.last_failure}`
                  : view.health,
                view.last_success_at ?? '–',
                String(view.waiting),
                String(view.dropped),
                view.url,
              ]),
            ),
          )
        })
      }),
    )

  webhook
    .command('remove <tenant> [webhook]')
    .description('delete a webhook, or the only one, and its waiting deliveries')
    .option('--json', 'print JSON')
    .action(
      action(async (name: string, given: string | undefined, options: OutputOptions) => {
        const endpoint = await withCore(async ({ tenancy, operations, store }) => {
          const tenant = await tenancy.find(name)
          const endpoint = given ?? (await onlyWebhook(store.read, tenant))
          await operations.webhooks.remove(tenant, COMMAND_LINE, endpoint)
          return endpoint
        })
        print(options, { removed: endpoint }, () => `Removed ${endpoint}.`)
      }),
    )

  webhook
    .command('test <tenant> [webhook]')
    .description('send an event without content to a webhook, or the only one')
    .option('--json', 'print JSON')
    .action(
      action(async (name: string, given: string | undefined, options: OutputOptions) => {
        const delivery = await withCore(async ({ tenancy, operations, store }) => {
          const tenant = await tenancy.find(name)
          return operations.webhooks.test(tenant, given ?? (await onlyWebhook(store.read, tenant)))
        })
        print(options, { delivery }, () => delivery)
        if (!options.json) note(`To see its delivery: countersign webhook deliveries ${name}`)
      }),
    )

  webhook
    .command('deliveries <tenant> [webhook]')
    .description(
      `list the deliveries of the last week, of all webhooks or one, newest first, at most ${MAX_DELIVERIES}`,
    )
    .option('--json', 'print JSON')
    .action(
      action(async (name: string, webhook: string | undefined, options: OutputOptions) => {
        await withCore(async ({ tenancy, store }) => {
          const { id } = await tenancy.find(name)
          const views = (await store.read.webhookDeliveries(id, MAX_DELIVERIES))
            .map(webhookDeliveryView)
            .filter((view) => webhook === undefined || view.webhook === webhook)
          print(options, views, () =>
            listing(
              ['ID', 'CREATED', 'EVENT', 'STATUS', 'TRIES', 'LAST', 'NEXT'],
              views.map((view) => [
                view.id,
                view.created_at,
                view.type,
                view.status,
                String(view.attempts),
                view.last_outcome ?? '–',
                view.next_attempt_at ?? '–',
              ]),
            ),
          )
        })
      }),
    )

  webhook
    .command('redeliver <tenant> <delivery>')
    .description('send an event again, with the same id')
    .option('--json', 'print JSON')
    .action(
      action(async (tenant: string, deliveryId: string, options: OutputOptions) => {
        const delivery = await withCore(async ({ tenancy, operations }) =>
          operations.webhooks.redeliver(await tenancy.find(tenant), COMMAND_LINE, deliveryId),
        )
        print(options, webhookDeliveryView(delivery), () => `${delivery.eventId} is sent again.`)
      }),
    )
}

/** The id of a tenant's webhook where there is only one. @throws UsageError wrong_usage */
async function onlyWebhook(read: StoreReader, { id, name }: TenantRecord): Promise<string> {
  const endpoints = await read.webhookEndpoints(id)
  if (endpoints.length === 1) return endpoints[0]!.id
  throw new UsageError(
    'wrong_usage',
    `${name} has ${counted(endpoints.length, 'webhook')}: name one. countersign webhook list ${name} shows their ids.`,
  )
}
