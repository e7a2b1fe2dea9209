/** `countersign tenant …`: tenants, their keys and their signing secret, straight on the database; a running service sees it at once. */
import type { Command } from 'commander'
import type { AuditEvent } from '../audit/audit-log.js'
import { isoTime, MINUTE_MS } from '../clock.js'
import { adminUrl, type Config, type Environment, parseRate } from '../config.js'
import { productionKeyState } from '../dashboard/tenant-routes.js'
import type { Ledger } from '../ledger.js'
import type { TenantRecord } from '../storage/records.js'
import type { StoreTransaction } from '../storage/store.js'
import { createLoginLink, LOGIN_LINK_MS } from '../tenancy/login-link.js'
import { createdTenantRows, createdTenantView } from './created-tenant.js'
import { parseDuration } from './duration.js'
import { withLedger, withNewLedger } from './ledger.js'
import { action, note, type OutputOptions, print, UsageError } from './output.js'
import { fields, listing } from './style.js'

interface KeyOptions extends OutputOptions {
  type: string
  grace: string
}

/** Changes a tenant and audits the change, in one transaction. */
async function change<T>(
  name: string,
  event: AuditEvent['event'],
  work: (
    tx: StoreTransaction,
    tenant: TenantRecord,
    ledger: Ledger,
  ) => Promise<{ result: T; facts: Record<string, unknown> }>,
): Promise<T> {
  return withLedger(async (ledger) => {
    const tenant = await ledger.tenancy.find(name)
    return ledger.store.transaction(async (tx) => {
      const { result, facts } = await work(tx, tenant, ledger)
      await ledger.audit.append(tx, tenant.id, { ...facts, event, actor: 'operator', request_id: null })
      return result
    })
  })
}

export function registerTenantCommands(tenant: Command): void {
  tenant
    .command('create <name>')
    .description('create a tenant; prints its sandbox key and signing secret, once')
    .option('--rate-limit <n/s>', 'contract of the production key, such as 50/s')
    .option('--fmr <rate>', 'false match rate of its verdicts, such as 1e-5')
    .option('--json', 'print JSON')
    .action(
      action(async (name: string, options: OutputOptions & { rateLimit?: string; fmr?: string }) => {
        const contract = {
          ...(options.rateLimit ? { ratePerSecond: parseRateLimit(options.rateLimit) } : {}),
          ...(options.fmr ? { fmr: parseFmr(options.fmr) } : {}),
        }
        await withNewLedger(async (ledger, config) => {
          const created = await ledger.tenancy.create(name, contract)
          const view = createdTenantView(created, await loginLink(ledger, config, created.tenant.id))
          print(options, view, () => fields(createdTenantRows(view)))
          if (!options.json)
            note(
              '\nKey, secret and link are shown only now; the link works once, within an hour. The production key is issued when a verify in the sandbox is approved.',
            )
        })
      }),
    )

  tenant
    .command('list')
    .description('list the tenants and the state of their keys')
    .option('--json', 'print JSON')
    .action(
      action(async (options: OutputOptions) => {
        await withLedger(async ({ store }) => {
          const views = await Promise.all(
            (await store.read.tenants()).map(async (tenant) => ({
              tenant_id: tenant.id,
              name: tenant.name,
              created_at: isoTime(tenant.createdAt),
              rate_limit_per_second: tenant.ratePerSecond,
              fmr: tenant.fmr,
              production_key: productionKeyState(tenant),
              keys: (await store.read.apiKeys(tenant.id)).map((key) => ({
                id: key.id,
                type: key.type,
                hint: `…${key.hint}`,
                created_at: isoTime(key.createdAt),
                valid_until: key.validUntil === null ? null : isoTime(key.validUntil),
                revoked_at: key.revokedAt === null ? null : isoTime(key.revokedAt),
              })),
            })),
          )
          print(options, views, () =>
            views.length === 0
              ? 'There are no tenants yet. Create one with: countersign tenant create <name>'
              : listing(
                  ['NAME', 'TENANT ID', 'RATE LIMIT', 'PRODUCTION KEY', 'CREATED'],
                  views.map((view) => [
                    view.name,
                    view.tenant_id,
                    `${view.rate_limit_per_second}/s`,
                    view.production_key,
                    view.created_at,
                  ]),
                ),
          )
        })
      }),
    )

  tenant
    .command('login-link <tenant>')
    .description('make a link that signs the tenant in to the dashboard, once')
    .option('--json', 'print JSON')
    .action(
      action(async (name: string, options: OutputOptions) => {
        await withLedger(async (ledger, config) => {
          const { id } = await ledger.tenancy.find(name)
          const link = await loginLink(ledger, config, id)
          print(options, { dashboard_url: link }, () => link)
          if (!options.json) note(`The link works once, within ${LOGIN_LINK_MS / MINUTE_MS} minutes.`)
        })
      }),
    )

  tenant
    .command('production-key <tenant>')
    .description('reveal the production key, once, after a verify in the sandbox was approved')
    .option('--json', 'print JSON')
    .action(
      action(async (name: string, options: OutputOptions) => {
        const productionKey = await change(name, 'key_revealed', async (tx, tenant, { tenancy }) => ({
          result: await tenancy.revealProductionKey(tx, tenant),
          facts: { type: 'production' },
        }))
        print(options, { production_key: productionKey }, () => productionKey)
        if (!options.json)
          note('The production key is shown only now; put it into the secret store of your backend.')
      }),
    )

  tenant
    .command('revoke-key <tenant>')
    .description('revoke every active key of a type, at once')
    .requiredOption('--type <type>', 'sandbox or production')
    .option('--json', 'print JSON')
    .action(
      action(async (name: string, options: OutputOptions & { type: string }) => {
        const type = parseType(options.type)
        const revoked = await change(name, 'key_revoked', async (tx, tenant, { tenancy }) => ({
          result: await tenancy.revokeKeys(tx, tenant, type),
          facts: { type },
        }))
        print(
          options,
          { revoked },
          () => `Revoked ${revoked} ${type} key${revoked === 1 ? '' : 's'} of ${name}.`,
        )
      }),
    )

  tenant
    .command('reissue-key <tenant>')
    .description('make a new key of a type; the old one stays valid for the grace period')
    .requiredOption('--type <type>', 'sandbox or production')
    .option('--grace <duration>', 'how long the old key stays valid, such as 1h', '0')
    .option('--json', 'print JSON')
    .action(
      action(async (name: string, options: KeyOptions) => {
        const type = parseType(options.type)
        const graceMs = parseDuration(options.grace)
        const key = await change(name, 'key_reissued', async (tx, tenant, { tenancy }) => ({
          result: await tenancy.reissueKey(tx, tenant, type, graceMs),
          facts: { type },
        }))
        print(options, { [`${type}_key`]: key }, () => key)
        if (!options.json)
          note(
            graceMs > 0
              ? `Shown only now. The old key stays valid until ${isoTime(Date.now() + graceMs)}.`
              : 'Shown only now. The old key is revoked.',
          )
      }),
    )

  tenant
    .command('rotate-signing <tenant>')
    .description('make a new signing secret; the old one stays valid for 30 minutes')
    .option('--force', 'rotate even in an overlap: ends the older secret at once')
    .option('--json', 'print JSON')
    .action(
      action(async (name: string, options: OutputOptions & { force?: boolean }) => {
        const { current, previous } = await change(
          name,
          'rotate_signing',
          async (tx, tenant, { secrets }) => {
            const rotation = await secrets.rotate(tx, tenant.id, options.force ?? false)
            return {
              result: rotation,
              facts: { current: rotation.current.id, previous: rotation.previous.id },
            }
          },
        )
        const view = {
          signing_secret: { id: current.id, secret: current.secret, created_at: isoTime(current.createdAt) },
          previous: { id: previous.id, valid_until: isoTime(previous.validUntil) },
        }
        print(options, view, () =>
          fields([
            ['Signing secret', view.signing_secret.secret],
            ['Signing secret id', view.signing_secret.id],
            ['Old secret', `${previous.id}, valid until ${view.previous.valid_until}`],
          ]),
        )
      }),
    )
}

function loginLink({ store }: Ledger, config: Config, tenantId: string): Promise<string> {
  return store.transaction((tx) =>
    createLoginLink(tx, { tenantId, adminUrl: adminUrl(config), now: Date.now() }),
  )
}

function parseType(text: string): Environment {
  if (text === 'sandbox' || text === 'production') return text
  throw new UsageError('invalid_option', `--type is "${text}"; expected sandbox or production.`)
}

function parseRateLimit(text: string): number {
  try {
    return parseRate(text, '--rate-limit')
  } catch (error) {
    throw new UsageError('invalid_option', (error as Error).message)
  }
}

function parseFmr(text: string): number {
  const fmr = Number(text)
  if (!(fmr > 0 && fmr < 1))
    throw new UsageError('invalid_option', `--fmr is "${text}"; expected a rate such as 1e-5.`)
  return fmr
}
