/** `countersign webhook`: a tenant's webhook endpoints and deliveries. These commands only write the outbox; the service sends. */
import type { Command } from 'commander'
import type { Core } from '../../admin/core.js'
import { COMMAND_LINE } from '../../audit/audited-unit-of-work.js'
import type { CommandHost } from '../../cli/lib/feature-command.js'
import { answers, UsageError } from '../../cli/lib/output.js'
import { environmentOf, type SandboxOption } from '../../cli/lib/sandbox-option.js'
import { counted, listing } from '../../cli/lib/style.js'
import { systemClock } from '../../lib/clock.js'
import type { TenantRecord } from '../../storage/records.js'
import type { StoreReader } from '../../storage/store.js'
import { WebhookOperations } from './webhook-operations.js'
import { webhookReader } from './webhook-tables.js'
import { webhookDeliveryView, webhookView, webhookViews } from './webhook-views.js'

/** Largest number of deliveries that are printed. */
const MAX_DELIVERIES = 200

const operationsOf = (core: Core) => new WebhookOperations({ ...core, clock: systemClock })

export function registerWebhookCommands(webhook: Command, { withCore }: CommandHost): void {
  answers(
    webhook
      .command('add <tenant> <url>')
      .description('send events about a tenant’s users to an https URL')
      .option(
        '--events <types>',
        'only these events, separated by commas, such as user.locked_out,user.disabled',
      )
      .option('--sandbox', 'send events of the sandbox instead of production'),
    (tenant: string, url: string, { events, ...options }: SandboxOption & { events?: string }) =>
      withCore(async (core) =>
        webhookView(
          await operationsOf(core).add(await core.tenancy.find(tenant), COMMAND_LINE, {
            url,
            environment: environmentOf(options),
            events: events?.split(',').map((name) => name.trim()) ?? [],
          }),
        ),
      ),
    ({ id }) => id,
    ({ id }, tenant) =>
      `Signed with the tenant's signing secret. Try it: countersign webhook test ${tenant} ${id}`,
  )

  answers(
    webhook
      .command('list <tenant>')
      .description("list a tenant's webhooks with their state and number of waiting deliveries"),
    (name: string) =>
      withCore(async ({ tenancy, store }) => webhookViews(store.read, (await tenancy.find(name)).id)),
    (views) =>
      listing(
        ['ID', 'ENVIRONMENT', 'EVENTS', 'STATE', 'LAST SUCCESS', 'WAITING', 'DROPPED', 'URL'],
        views.map((view) => [
          view.id,
          view.environment,
          view.events.join(', ') || 'all',
          view.health === 'failing' ? `failing, ${view.failures} times: ${view.last_failure}` : view.health,
          view.last_success_at ?? '–',
          String(view.waiting),
          String(view.dropped),
          view.url,
        ]),
      ),
  )

  answers(
    webhook
      .command('remove <tenant> [webhook]')
      .description('delete a webhook, or the only one, and its waiting deliveries'),
    (name: string, given: string | undefined) =>
      withCore(async (core) => {
        const tenant = await core.tenancy.find(name)
        const removed = given ?? (await onlyWebhook(core.store.read, tenant))
        await operationsOf(core).remove(tenant, COMMAND_LINE, removed)
        return { removed }
      }),
    ({ removed }) => `Removed ${removed}.`,
  )

  answers(
    webhook
      .command('test <tenant> [webhook]')
      .description('send an event without content to a webhook, or the only one'),
    (name: string, given: string | undefined) =>
      withCore(async (core) => {
        const tenant = await core.tenancy.find(name)
        const endpoint = given ?? (await onlyWebhook(core.store.read, tenant))
        return { delivery: await operationsOf(core).test(tenant, endpoint) }
      }),
    ({ delivery }) => delivery,
    (_view, name) => `To see its delivery: countersign webhook deliveries ${name}`,
  )

  answers(
    webhook
      .command('deliveries <tenant> [webhook]')
      .description(
        `list the deliveries of the last week, of all webhooks or one, newest first, at most ${MAX_DELIVERIES}`,
      ),
    (name: string, webhook: string | undefined) =>
      withCore(async ({ tenancy, store }) =>
        (
          await store.read
            .statements(webhookReader)
            .deliveriesOf((await tenancy.find(name)).id, MAX_DELIVERIES)
        )
          .map(webhookDeliveryView)
          .filter((view) => webhook === undefined || view.webhook === webhook),
      ),
    (views) =>
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

  answers(
    webhook.command('redeliver <tenant> <delivery>').description('send an event again, with the same id'),
    (tenant: string, delivery: string) =>
      withCore(async (core) =>
        webhookDeliveryView(
          await operationsOf(core).redeliver(await core.tenancy.find(tenant), COMMAND_LINE, delivery),
        ),
      ),
    ({ event_id }) => `${event_id} is sent again.`,
  )
}

/** The id of a tenant's webhook where there is only one. @throws UsageError wrong_usage */
async function onlyWebhook(read: StoreReader, { id, name }: TenantRecord): Promise<string> {
  const endpoints = await read.statements(webhookReader).endpointsOf(id)
  if (endpoints.length === 1) return endpoints[0]!.id
  throw new UsageError(
    'wrong_usage',
    `${name} has ${counted(endpoints.length, 'webhook')}: name one. countersign webhook list ${name} shows their ids.`,
  )
}
