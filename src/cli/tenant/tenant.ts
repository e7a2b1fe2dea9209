/** `countersign tenant`: tenants, their keys and their signing secrets. Commands change the database, and a running service sees it at once. */

import type { Command } from 'commander'
import { LOGIN_LINK_MS } from '../../admin/accounts/login-link.js'
import { rotationView, secretView } from '../../admin/views.js'
import { loadConfig } from '../../app/configuration.js'
import { COMMAND_LINE } from '../../audit/audited-unit-of-work.js'
import { isoTime, MINUTE_MS } from '../../lib/clock.js'
import { parseDuration } from '../lib/duration.js'
import { action, note, type OutputOptions, print } from '../lib/output.js'
import { assertReached } from '../lib/pack-in-place.js'
import { fields, listing } from '../lib/style.js'
import { registerTenantSessions } from '../operator/sessions.js'
import { servedAdminUrl } from '../serve/served-urls.js'
import { withCore, withNewLedger } from '../with-core.js'
import { createdTenantRows, createdTenantView, forSdk } from './created-tenant.js'
import { registerTenantKeys } from './tenant-keys.js'
import { registerTenantLifecycle } from './tenant-lifecycle.js'
import {
  type ContractOptions,
  describeSignedRate,
  operate,
  parseEnvironment,
  parseFmr,
  parseRateLimit,
  parseReplaceVerdict,
  parseRequirement,
  signedRate,
} from './tenant-options.js'
import { registerTenantPerson } from './tenant-person.js'
import { signedRateView, tenantView } from './tenant-view.js'

interface ProductionKeyOptions extends OutputOptions {
  issue?: boolean
  newSecret?: boolean
}

interface KeyOptions extends OutputOptions {
  type: string
  grace: string
}

export function registerTenantCommands(tenant: Command): void {
  tenant
    .command('create <name>')
    .description('create a tenant and print its sandbox key and signing secret once')
    .option('--rate-limit <n/s>', 'requests per second of the tenant in production, such as 50/s')
    .option('--fmr <rate>', 'false match rate of its verdicts, such as 1e-5')
    .option('--require-liveness <what>', 'liveness required of its captures: none, passive, active or both')
    .option(
      '--replace-verdict <age>',
      'replace a reference only after an approved verification of the user for it, at most this old, such as 10m',
    )
    .option('--json', 'print JSON')
    .action(
      action(async (name: string, options: OutputOptions & ContractOptions) => {
        const replaceVerdict = parseReplaceVerdict(options.replaceVerdict ?? 'none')
        const contract = {
          ...(replaceVerdict === null ? {} : { replaceVerdictMinutes: replaceVerdict }),
          ...(options.rateLimit ? { ratePerSecond: parseRateLimit(options.rateLimit) } : {}),
          ...(options.fmr ? { fmr: parseFmr(options.fmr) } : {}),
          ...(options.requireLiveness
            ? { requireLiveness: await parseRequirement(options.requireLiveness) }
            : {}),
        }
        if (contract.fmr !== undefined) await assertReached(contract.fmr, loadConfig())
        await withNewLedger(async (core, config) => {
          const created = await core.operations.tenants.create(
            name,
            COMMAND_LINE,
            contract,
            await servedAdminUrl(core.store, config),
          )
          const signed = await signedRate(config, created.tenant)
          const view = { ...createdTenantView(created), ...signedRateView(signed) }
          print(options, view, () =>
            fields([...createdTenantRows(view), ['False match rate', describeSignedRate(signed)]]),
          )
          if (!options.json)
            note(
              `\nKey, secret and link are shown only now; the link works once, within an hour. The production key is issued when a verification in the sandbox is approved, or by: countersign tenant production-key ${name} --issue`,
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
        await withCore(async ({ store }) => {
          const views = await Promise.all(
            (await store.read.tenants()).map((tenant) => tenantView(store.read, tenant)),
          )
          print(options, views, () =>
            views.length === 0
              ? 'There are no tenants yet. Create one with: countersign tenant create <name>'
              : listing(
                  ['NAME', 'TENANT ID', 'STATUS', 'RATE LIMIT', 'PRODUCTION KEY', 'CREATED'],
                  views.map((view) => [
                    view.name,
                    view.tenant_id,
                    view.status,
                    `${view.rate_limit_per_second}/s`,
                    view.production_key,
                    view.created_at,
                  ]),
                ),
          )
        })
      }),
    )

  registerTenantLifecycle(tenant)
  registerTenantKeys(tenant)
  registerTenantSessions(tenant)
  registerTenantPerson(tenant)

  tenant
    .command('login-link <tenant>')
    .description('print a link that signs the tenant in to the dashboard once')
    .option('--json', 'print JSON')
    .action(
      action(async (name: string, options: OutputOptions) => {
        const link = await operate(name, async ({ tenants }, tenant, config, store) =>
          tenants.createLoginLink(tenant, COMMAND_LINE, await servedAdminUrl(store, config)),
        )
        print(options, { dashboard_url: link }, () => link)
        if (!options.json) note(`The link works once, within ${LOGIN_LINK_MS / MINUTE_MS} minutes.`)
      }),
    )

  tenant
    .command('production-key <tenant>')
    .description(
      'print the production key once, after a verification in the sandbox was approved, or with --issue',
    )
    .option('--issue', 'issue the key without a verification in the sandbox; the audit log says so')
    .option('--new-secret', 'make a new signing secret as well; the one used with the sandbox ends at once')
    .option('--json', 'print JSON')
    .action(
      action(async (name: string, options: ProductionKeyOptions) => {
        if (options.newSecret) return goLive(name, options)
        const productionKey = await operate(name, ({ keys }, tenant) =>
          keys.revealProduction(tenant, COMMAND_LINE, options.issue),
        )
        print(options, { production_key: productionKey }, () => productionKey)
        if (!options.json) {
          note('The production key is shown only now; put it into the secret store of your backend.')
          note(
            `Anyone who has had the signing secret can sign production's verdicts: rotate it with \`countersign tenant rotate-signing ${name}\`.`,
          )
        }
      }),
    )

  tenant
    .command('revoke-key <tenant>')
    .description('revoke every active key of a type, at once')
    .requiredOption('--type <type>', 'sandbox or production')
    .option('--json', 'print JSON')
    .action(
      action(async (name: string, options: OutputOptions & { type: string }) => {
        const type = parseEnvironment(options.type, '--type')
        const revoked = await operate(name, ({ keys }, tenant) => keys.revoke(tenant, COMMAND_LINE, type))
        print(
          options,
          { revoked },
          () => `Revoked ${revoked} ${type} key${revoked === 1 ? '' : 's'} of ${name}.`,
        )
      }),
    )

  tenant
    .command('reissue-key <tenant>')
    .description(
      'issue a new API key of a type; the current key stays valid for the grace period, older ones end now',
    )
    .requiredOption('--type <type>', 'sandbox or production')
    .option('--grace <duration>', 'how long the old key stays valid, such as 1h', '0')
    .option('--json', 'print JSON')
    .action(
      action(async (name: string, options: KeyOptions) => {
        const type = parseEnvironment(options.type, '--type')
        const graceMs = parseDuration(options.grace)
        const key = await operate(name, ({ keys }, tenant) =>
          keys.reissue(tenant, COMMAND_LINE, type, graceMs),
        )
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
    .option('--force', 'rotate even while two secrets are valid: the older one ends at once')
    .option('--json', 'print JSON')
    .action(
      action(async (name: string, options: OutputOptions & { force?: boolean }) => {
        const rotation = await operate(name, ({ keys }, tenant) =>
          keys.rotateSigning(tenant, COMMAND_LINE, options.force ?? false),
        )
        const view = rotationView(rotation)
        print(options, view, () =>
          fields([
            ['Signing secret', view.signing_secret.secret],
            ['Signing secret id', view.signing_secret.id],
            forSdk(view.signing_secret),
            ['Old secret', `${view.previous.id}, valid until ${view.previous.valid_until}`],
          ]),
        )
      }),
    )
}

async function goLive(name: string, options: ProductionKeyOptions): Promise<void> {
  const { productionKey, signingSecret } = await operate(name, ({ keys }, tenant) =>
    keys.goLive(tenant, COMMAND_LINE, options.issue),
  )
  const view = { production_key: productionKey, signing_secret: secretView(signingSecret) }
  print(options, view, () =>
    fields([
      ['Production key', productionKey],
      ['Signing secret', signingSecret.secret],
      ['Signing secret id', signingSecret.id],
      forSdk(signingSecret),
    ]),
  )
  if (options.json) return
  note('Key and secret are shown only now; put them into the secret store of your backend.')
  note('The old signing secret has ended: give the new one to the backends that call the sandbox, too.')
}
