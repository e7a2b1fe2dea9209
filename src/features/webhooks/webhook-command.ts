/** `countersign webhook`: a tenant's webhook endpoints and deliveries. These commands only write the outbox; the service sends. */
import type { Command } from 'commander'
import { commandsOn } from '../../cli/lib/command.js'
import type { CommandHost } from '../../cli/lib/feature-command.js'
import { UsageError } from '../../cli/lib/output.js'
import { environmentOf } from '../../cli/lib/sandbox-option.js'
import { counted, listing } from '../../cli/lib/style.js'
import type { TenantRecord } from '../../storage/records.js'
import type { StoreReader } from '../../storage/store.js'
import { WebhookOperations } from './webhook-operations.js'
import { webhookReader } from './webhook-tables.js'
import { webhookDeliveryView, webhookView, webhookViews } from './webhook-views.js'

const MAX_DELIVERIES = 200

export function registerWebhookCommands(command: Command, host: CommandHost): void {
  const { tenantCommand } = commandsOn(host)
  tenantCommand(command, 'add <tenant> <url>', {
    does: 'send events about a tenant’s users to an https URL',
    options: {
      '--events <types>': 'only these events, separated by commas, such as user.locked_out,user.disabled',
      '--sandbox': 'send events of the sandbox instead of production',
    },
    async answer({ tenant, actor, ...core }, { url, events: types, ...options }) {
      const environment = environmentOf(options)
      const events = types?.split(',').map((name) => name.trim()) ?? []
      return webhookView(await new WebhookOperations(core).add(tenant, actor, { url, environment, events }))
    },
    text: ({ id }) => id,
    remark: ({ id }, { tenant }) =>
      `Signed with the tenant's signing secret. Try it: countersign webhook test ${tenant} ${id}`,
  })

  tenantCommand(command, 'list <tenant>', {
    does: "list a tenant's webhooks with their state and number of waiting deliveries",
    answer: ({ store, tenant }) => webhookViews(store.read, tenant.id),
    text: (views) =>
      listing(
        ['ID', 'ENVIRONMENT', 'EVENTS', 'STATE', 'LAST SUCCESS', 'WAITING', 'DROPPED', 'URL'],
        views.map((view) => [
          ...[view.id, view.environment, view.events.join(', ') || 'all'],
          view.health === 'failing' ? `failing, ${view.failures} times: ${view.last_failure}` : view.health,
          ...[view.last_success_at ?? '–', String(view.waiting), String(view.dropped), view.url],
        ]),
      ),
  })

  tenantCommand(command, 'remove <tenant> [webhook]', {
    does: 'delete a webhook, or the only one, and its waiting deliveries',
    async answer({ tenant, actor, ...core }, { webhook }) {
      const removed = webhook ?? (await onlyWebhook(core.store.read, tenant))
      await new WebhookOperations(core).remove(tenant, actor, removed)
      return { removed }
    },
    text: ({ removed }) => `Removed ${removed}.`,
  })

  tenantCommand(command, 'test <tenant> [webhook]', {
    does: 'send an event without content to a webhook, or the only one',
    async answer({ tenant, ...core }, { webhook }) {
      const endpoint = webhook ?? (await onlyWebhook(core.store.read, tenant))
      return { delivery: await new WebhookOperations(core).test(tenant, endpoint) }
    },
    text: ({ delivery }) => delivery,
    remark: (_view, { tenant }) => `To see its delivery: countersign webhook deliveries ${tenant}`,
  })

  tenantCommand(command, 'deliveries <tenant> [webhook]', {
    does: `list the deliveries of the last week, of all webhooks or one, newest first, at most ${MAX_DELIVERIES}`,
    async answer({ store, tenant }, { webhook }) {
      const found = await store.read.statements(webhookReader).deliveriesOf(tenant.id, MAX_DELIVERIES)
      const views = found.map(webhookDeliveryView)
      return views.filter((view) => webhook === undefined || view.webhook === webhook)
    },
    text: (views) =>
      listing(
        ['ID', 'CREATED', 'EVENT', 'STATUS', 'TRIES', 'LAST', 'NEXT'],
        views.map((view) => [
          ...[view.id, view.created_at, view.type, view.status, String(view.attempts)],
          ...[view.last_outcome ?? '–', view.next_attempt_at ?? '–'],
        ]),
      ),
  })

  tenantCommand(command, 'redeliver <tenant> <delivery>', {
    does: 'send an event again, with the same id',
    answer: async ({ tenant, actor, ...core }, { delivery }) =>
      webhookDeliveryView(await new WebhookOperations(core).redeliver(tenant, actor, delivery)),
    text: ({ event_id }) => `${event_id} is sent again.`,
  })
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
