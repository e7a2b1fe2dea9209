/** `countersign tenant`: tenants, their keys and their signing secrets. Commands change the database, and a running service sees it at once. */
import type { Command } from 'commander'
import { LOGIN_LINK_MS } from '../../admin/accounts/login-link.js'
import { rotationView, secretView } from '../../admin/key-operations.js'
import { tenantErasureView } from '../../admin/views.js'
import { loadConfig } from '../../app/configuration.js'
import { MINUTE_MS } from '../../lib/clock.js'
import { declare } from '../lib/command.js'
import { UsageError } from '../lib/output.js'
import { assertReached } from '../lib/pack-in-place.js'
import { counted, fields, listing } from '../lib/style.js'
import { registerTenantSessions } from '../operator/sessions.js'
import { servedAdminUrl } from '../serve/served-urls.js'
import { coreCommand, liveTenantCommand, tenantCommand, withCore, withNewLedger } from '../with-core.js'
import { GRACE, registerTenantKeys, remarkOnOldKey } from './tenant-keys.js'
import {
  assertServed,
  describeSignedRate,
  parseEnvironment,
  parseFmr,
  parseRateLimit,
  parseReplaceVerdict,
  parseRequirement,
  signedRate,
} from './tenant-options.js'
import { registerTenantPerson } from './tenant-person.js'
import {
  createdTenantRows,
  createdTenantView,
  forSdk,
  tenantSummary,
  wholeTenantRows,
  wholeTenantView,
  withKeys,
} from './tenant-view.js'

const TYPE = {
  '--type <type>': { does: 'sandbox or production', required: true, parse: parseEnvironment },
} as const

export function registerTenantCommands(tenant: Command): void {
  declare(tenant, 'create <name>', {
    does: 'create a tenant and print its sandbox key and signing secret once',
    options: {
      '--rate-limit <n/s>': {
        does: 'requests per second of the tenant in production, such as 50/s',
        parse: parseRateLimit,
      },
      '--fmr <rate>': { does: 'false match rate of its verdicts, such as 1e-5', parse: parseFmr },
      '--require-liveness <what>': {
        does: 'liveness required of its captures: none, passive, active or both',
        parse: parseRequirement,
      },
      '--replace-verdict <age>': {
        does: 'replace a reference only after an approved verification of the user for it, at most this old, such as 10m',
        parse: parseReplaceVerdict,
      },
    },
    async answer({ name, rateLimit, fmr, requireLiveness, replaceVerdict }) {
      const bounds = { ratePerSecond: rateLimit, fmr, requireLiveness }
      const contract = { ...bounds, replaceVerdictMinutes: replaceVerdict }
      if (requireLiveness) await assertServed(requireLiveness)
      if (fmr) await assertReached(fmr, loadConfig())
      return withNewLedger(async ({ operations, store, actor }, config) => {
        const adminUrl = await servedAdminUrl(store, config)
        const created = await operations.tenants.create(name, actor, contract, adminUrl)
        return { ...createdTenantView(created), ...(await signedRate(config, created.tenant)) }
      })
    },
    text: (view) => fields([...createdTenantRows(view), ['False match rate', describeSignedRate(view)]]),
    remark: ({ name }) =>
      `\nKey, secret and link are shown only now; the link works once, within an hour. The production key is issued when a verification in the sandbox is approved, or by: countersign tenant production-key ${name} --issue`,
  })

  coreCommand(tenant, 'list', {
    does: 'list the tenants and the state of their keys',
    answer: async ({ store: { read } }) =>
      Promise.all((await read.tenants()).map((tenant) => withKeys(read, tenant))),
    text: (views) =>
      views.length === 0
        ? 'There are no tenants yet. Create one with: countersign tenant create <name>'
        : listing(
            ['NAME', 'TENANT ID', 'STATUS', 'RATE LIMIT', 'PRODUCTION KEY', 'CREATED'],
            views.map((view) => [
              ...[view.name, view.tenant_id, view.status, `${view.rate_limit_per_second}/s`],
              ...[view.production_key, view.created_at],
            ]),
          ),
  })

  registerTenantLifecycle(tenant)
  registerTenantKeys(tenant)
  registerTenantSessions(tenant)
  registerTenantPerson(tenant)

  liveTenantCommand(tenant, 'login-link <tenant>', {
    does: 'print a link that signs the tenant in to the dashboard once',
    async answer({ operations, store, tenant, config, actor }) {
      const url = await servedAdminUrl(store, config)
      return { dashboard_url: await operations.tenants.createLoginLink(tenant, actor, url) }
    },
    text: ({ dashboard_url: link }) => link,
    remark: () => `The link works once, within ${LOGIN_LINK_MS / MINUTE_MS} minutes.`,
  })

  liveTenantCommand(tenant, 'production-key <tenant>', {
    does: 'print the production key once, after a verification in the sandbox was approved, or with --issue',
    options: {
      '--issue': 'issue the key without a verification in the sandbox; the audit log says so',
      '--new-secret': 'make a new signing secret as well; the one used with the sandbox ends at once',
    },
    async answer({ operations: { keys }, tenant, actor }, { issue, newSecret }) {
      const asked = { issues: issue, newSecret }
      const { productionKey, signingSecret } = await keys.revealProduction(tenant, actor, asked)
      return {
        production_key: productionKey,
        signing_secret: signingSecret ? secretView(signingSecret) : undefined,
      }
    },
    text: ({ production_key: key, signing_secret: secret }) =>
      secret === undefined
        ? key
        : fields([
            ['Production key', key],
            ['Signing secret', secret.secret],
            ['Signing secret id', secret.id],
            forSdk(secret),
          ]),
    remark: ({ signing_secret: secret }, { tenant }) =>
      secret === undefined
        ? `The production key is shown only now; put it into the secret store of your backend.\nAnyone who has had the signing secret can sign production's verdicts: rotate it with \`countersign tenant rotate-signing ${tenant}\`.`
        : 'Key and secret are shown only now; put them into the secret store of your backend.\nThe old signing secret has ended: give the new one to the backends that call the sandbox, too.',
  })

  liveTenantCommand(tenant, 'revoke-key <tenant>', {
    does: 'revoke every active key of a type, at once',
    options: TYPE,
    answer: async ({ operations, tenant, actor }, { type }) => ({
      revoked: await operations.keys.revoke(tenant, actor, type),
    }),
    text: ({ revoked }, { tenant, type }) => `Revoked ${counted(revoked, `${type} key`)} of ${tenant}.`,
  })

  liveTenantCommand(tenant, 'reissue-key <tenant>', {
    does: 'issue a new API key of a type; the current key stays valid for the grace period, older ones end now',
    options: { ...TYPE, ...GRACE },
    answer: async ({ operations, tenant, actor }, { type, grace }) => ({
      [`${type}_key`]: await operations.keys.reissue(tenant, actor, type, grace, null),
    }),
    text: (view, { type }) => view[`${type}_key`]!,
    remark: (_view, { grace }) => remarkOnOldKey(grace),
  })

  liveTenantCommand(tenant, 'rotate-signing <tenant>', {
    does: 'make a new signing secret; the old one stays valid for 30 minutes',
    options: { '--force': 'rotate even while two secrets are valid: the older one ends at once' },
    answer: async ({ operations, tenant, actor }, { force }) =>
      rotationView(await operations.keys.rotateSigning(tenant, actor, force)),
    text: ({ signing_secret: secret, previous }) =>
      fields([
        ['Signing secret', secret.secret],
        ['Signing secret id', secret.id],
        forSdk(secret),
        ['Old secret', `${previous.id}, valid until ${previous.valid_until}`],
      ]),
  })
}

/** Word that removes a tenant's own rate, so that the configured one holds. */
const CONFIGURED = 'default'

function registerTenantLifecycle(tenant: Command): void {
  tenantCommand(tenant, 'show <tenant>', {
    does: 'show the state, contract, keys and number of references of a tenant',
    async answer({ store, tenant, config }) {
      const signed = await signedRate(config, tenant)
      return wholeTenantView(store.read, tenant, { now: Date.now(), signed })
    },
    text: (view) => fields(wholeTenantRows(view)),
  })

  declare(tenant, 'update <tenant>', {
    does: 'change the contract of a tenant; options that are not given stay',
    options: {
      '--rate-limit <n/s>': {
        does: 'sustained requests per second of the tenant in production, such as 50/s',
        parse: parseRateLimit,
      },
      '--fmr <rate>': {
        does: `false match rate of its verdicts, such as 1e-5; ${CONFIGURED}: the configured one`,
        parse: (text, option) => (text === CONFIGURED ? null : parseFmr(text, option)),
      },
      '--require-liveness <what>': {
        does: `liveness required of its captures: none, passive, active or both; ${CONFIGURED}: the configured value`,
        parse: (text, option) => (text === CONFIGURED ? null : parseRequirement(text, option)),
      },
      '--replace-verdict <age>': {
        does: 'replace a reference only after an approved verification of the user for it, at most this old, such as 10m; none: without one',
        parse: parseReplaceVerdict,
      },
    },
    async answer({ tenant, rateLimit, fmr, requireLiveness, replaceVerdict }) {
      if ([rateLimit, fmr, requireLiveness, replaceVerdict].every((change) => change === undefined))
        throw new UsageError(
          'wrong_usage',
          'Nothing to change. Give --rate-limit, --fmr, --require-liveness or --replace-verdict.',
        )
      if (fmr) await assertReached(fmr, loadConfig())
      if (requireLiveness) await assertServed(requireLiveness)
      return withCore(async ({ operations, tenancy, actor }, config) => {
        const found = await tenancy.findLive(tenant)
        const changed = await operations.tenants.setContract(found, actor, {
          ratePerSecond: rateLimit ?? found.ratePerSecond,
          fmr: fmr === undefined ? found.fmr : fmr,
          requireLiveness: requireLiveness === undefined ? found.requireLiveness : requireLiveness,
          replaceVerdictMinutes: replaceVerdict === undefined ? found.replaceVerdictMinutes : replaceVerdict,
        })
        return { ...tenantSummary(changed), ...(await signedRate(config, changed)) }
      })
    },
    text: (view) =>
      `The contract of ${view.name}: ${view.rate_limit_per_second}/s, ${fmrText(view.fmr)} (${describeSignedRate(view)}), ${livenessText(view.require_liveness)}${view.replace_verdict_minutes === null ? '' : `, references replaced with a verdict of at most ${view.replace_verdict_minutes} minutes`}.`,
  })

  liveTenantCommand(tenant, 'suspend <tenant>', {
    does: 'refuse every call of a tenant and end its dashboard sessions until it is resumed; nothing is deleted',
    answer: async ({ operations, tenant, actor }) =>
      tenantSummary(await operations.lifecycle.suspend(tenant, actor)),
    text: ({ name }) =>
      `${name} is suspended: its calls are refused, its sessions and login links have ended, and all else is kept.`,
  })

  liveTenantCommand(tenant, 'resume <tenant>', {
    does: 'accept the calls of a suspended tenant again',
    answer: async ({ operations, tenant, actor }) =>
      tenantSummary(await operations.lifecycle.resume(tenant, actor)),
    text: ({ name }) => `${name} may call again.`,
  })

  liveTenantCommand(tenant, 'delete <tenant>', {
    does: 'erase all users, keys and secrets of a tenant permanently; its audit log stays',
    options: { '--confirm <name>': 'name of the tenant, to confirm' },
    async answer({ operations, tenant, actor }, { confirm }) {
      if (confirm !== tenant.name)
        throw new UsageError(
          'not_confirmed',
          `This erases every user of ${tenant.name} permanently, and from every backup once the next one replaces the keys. To confirm, add --confirm ${tenant.name}.`,
        )
      return tenantErasureView(tenant, await operations.lifecycle.delete(tenant, actor))
    },
    text: ({ erasure_id, erased, erased_at }) =>
      fields([
        ['Receipt', erasure_id],
        [
          'Erased',
          `${counted(erased.users, 'user')}, ${counted(erased.references, 'reference')}, ${counted(erased.captures, 'capture')}`,
        ],
        ['At', erased_at],
      ]),
    remark: ({ name }) =>
      `${name} is deleted. Its audit log stays and records this. Make a backup now: older keys still open what was erased.`,
  })
}

function livenessText(required: string | null): string {
  return required === null ? 'liveness as configured' : `liveness required: ${required}`
}

function fmrText(fmr: number | null): string {
  return fmr === null ? 'the configured false match rate' : `a false match rate of ${fmr}`
}
