/** `countersign tenant`: tenants, their keys and their signing secrets. Commands change the database, and a running service sees it at once. */

import type { Command } from 'commander'
import { LOGIN_LINK_MS } from '../../admin/accounts/login-link.js'
import { rotationView, secretView } from '../../admin/key-operations.js'
import { loadConfig } from '../../app/configuration.js'
import { COMMAND_LINE } from '../../audit/audited-unit-of-work.js'
import { MINUTE_MS } from '../../lib/clock.js'
import { parseDuration } from '../lib/duration.js'
import { answers } from '../lib/output.js'
import { assertReached } from '../lib/pack-in-place.js'
import { fields, listing } from '../lib/style.js'
import { registerTenantSessions } from '../operator/sessions.js'
import { servedAdminUrl } from '../serve/served-urls.js'
import { withCore, withNewLedger } from '../with-core.js'
import { createdTenantRows, createdTenantView, forSdk } from './created-tenant.js'
import { GRACE, registerTenantKeys, remarkOnOldKey } from './tenant-keys.js'
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
import { signedOf, signedRateView, withKeys } from './tenant-view.js'

const TYPE = ['--type <type>', 'sandbox or production'] as const

interface ProductionKeyOptions {
  issue?: boolean
  newSecret?: boolean
}

export function registerTenantCommands(tenant: Command): void {
  answers(
    tenant
      .command('create <name>')
      .description('create a tenant and print its sandbox key and signing secret once')
      .option('--rate-limit <n/s>', 'requests per second of the tenant in production, such as 50/s')
      .option('--fmr <rate>', 'false match rate of its verdicts, such as 1e-5')
      .option('--require-liveness <what>', 'liveness required of its captures: none, passive, active or both')
      .option(
        '--replace-verdict <age>',
        'replace a reference only after an approved verification of the user for it, at most this old, such as 10m',
      ),
    create,
    (view) => fields([...createdTenantRows(view), ['False match rate', describeSignedRate(signedOf(view))]]),
    ({ name }) =>
      `\nKey, secret and link are shown only now; the link works once, within an hour. The production key is issued when a verification in the sandbox is approved, or by: countersign tenant production-key ${name} --issue`,
  )

  answers(
    tenant.command('list').description('list the tenants and the state of their keys'),
    () =>
      withCore(async ({ store: { read } }) =>
        Promise.all((await read.tenants()).map((tenant) => withKeys(read, tenant))),
      ),
    (views) =>
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

  registerTenantLifecycle(tenant)
  registerTenantKeys(tenant)
  registerTenantSessions(tenant)
  registerTenantPerson(tenant)

  answers(
    tenant
      .command('login-link <tenant>')
      .description('print a link that signs the tenant in to the dashboard once'),
    (name: string) =>
      operate(name, async ({ tenants }, found, config, store) => ({
        dashboard_url: await tenants.createLoginLink(
          found,
          COMMAND_LINE,
          await servedAdminUrl(store, config),
        ),
      })),
    ({ dashboard_url: link }) => link,
    () => `The link works once, within ${LOGIN_LINK_MS / MINUTE_MS} minutes.`,
  )

  answers(
    tenant
      .command('production-key <tenant>')
      .description(
        'print the production key once, after a verification in the sandbox was approved, or with --issue',
      )
      .option('--issue', 'issue the key without a verification in the sandbox; the audit log says so')
      .option(
        '--new-secret',
        'make a new signing secret as well; the one used with the sandbox ends at once',
      ),
    productionKey,
    ({ production_key: key, signing_secret: secret }) =>
      secret === undefined
        ? key
        : fields([
            ['Production key', key],
            ['Signing secret', secret.secret],
            ['Signing secret id', secret.id],
            forSdk(secret),
          ]),
    ({ signing_secret: secret }, name) =>
      secret === undefined
        ? `The production key is shown only now; put it into the secret store of your backend.\nAnyone who has had the signing secret can sign production's verdicts: rotate it with \`countersign tenant rotate-signing ${name}\`.`
        : 'Key and secret are shown only now; put them into the secret store of your backend.\nThe old signing secret has ended: give the new one to the backends that call the sandbox, too.',
  )

  answers(
    tenant
      .command('revoke-key <tenant>')
      .description('revoke every active key of a type, at once')
      .requiredOption(...TYPE),
    async (name: string, options: { type: string }) => {
      const type = parseEnvironment(options.type, '--type')
      return operate(name, async ({ keys }, found) => ({
        revoked: await keys.revoke(found, COMMAND_LINE, type),
      }))
    },
    ({ revoked }, name, { type }) => `Revoked ${revoked} ${type} key${revoked === 1 ? '' : 's'} of ${name}.`,
  )

  answers(
    tenant
      .command('reissue-key <tenant>')
      .description(
        'issue a new API key of a type; the current key stays valid for the grace period, older ones end now',
      )
      .requiredOption(...TYPE)
      .option(...GRACE),
    async (name: string, options: { type: string; grace: string }) => {
      const type = parseEnvironment(options.type, '--type')
      const graceMs = parseDuration(options.grace)
      return operate(name, async ({ keys }, found) => ({
        [`${type}_key`]: await keys.reissue(found, COMMAND_LINE, type, graceMs),
      }))
    },
    (view, _name, { type }) => view[`${type}_key`]!,
    (_view, _name, { grace }) => remarkOnOldKey(grace),
  )

  answers(
    tenant
      .command('rotate-signing <tenant>')
      .description('make a new signing secret; the old one stays valid for 30 minutes')
      .option('--force', 'rotate even while two secrets are valid: the older one ends at once'),
    (name: string, { force = false }: { force?: boolean }) =>
      operate(name, async ({ keys }, found) =>
        rotationView(await keys.rotateSigning(found, COMMAND_LINE, force)),
      ),
    ({ signing_secret: secret, previous }) =>
      fields([
        ['Signing secret', secret.secret],
        ['Signing secret id', secret.id],
        forSdk(secret),
        ['Old secret', `${previous.id}, valid until ${previous.valid_until}`],
      ]),
  )
}

async function create(name: string, options: ContractOptions) {
  const replaceVerdict = parseReplaceVerdict(options.replaceVerdict ?? 'none')
  const contract = {
    ...(replaceVerdict === null ? {} : { replaceVerdictMinutes: replaceVerdict }),
    ...(options.rateLimit ? { ratePerSecond: parseRateLimit(options.rateLimit) } : {}),
    ...(options.fmr ? { fmr: parseFmr(options.fmr) } : {}),
    ...(options.requireLiveness ? { requireLiveness: await parseRequirement(options.requireLiveness) } : {}),
  }
  if (contract.fmr !== undefined) await assertReached(contract.fmr, loadConfig())
  return withNewLedger(async ({ operations, store }, config) => {
    const adminUrl = await servedAdminUrl(store, config)
    const created = await operations.tenants.create(name, COMMAND_LINE, contract, adminUrl)
    return {
      ...createdTenantView(created),
      ...signedRateView(await signedRate(config, created.tenant)),
    }
  })
}

function productionKey(name: string, { issue, newSecret }: ProductionKeyOptions) {
  return operate(
    name,
    async (
      { keys },
      found,
    ): Promise<{ production_key: string; signing_secret?: ReturnType<typeof secretView> }> => {
      if (!newSecret) return { production_key: await keys.revealProduction(found, COMMAND_LINE, issue) }
      const { productionKey, signingSecret } = await keys.goLive(found, COMMAND_LINE, issue)
      return { production_key: productionKey, signing_secret: secretView(signingSecret) }
    },
  )
}
