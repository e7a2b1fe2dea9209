/** The routes for a tenant's policy: what is in force, its versions and changes, the check of a draft, and the change itself. */
import { PackGradeError } from '../../../models/pack/pack-grade.js'
import type { Environment } from '../../config/config.js'
import { type ActionPolicy, type PolicyRule, ruleFor } from '../../contract/action-policy.js'
import { PolicyError, type PolicyVersion, parsePolicy } from '../../features/policies/policy.js'
import { PolicyOperations, policiesInForce } from '../../features/policies/policy-operations.js'
import { isoTime } from '../../lib/clock.js'
import type { PolicyVersionRecord, TenantRecord } from '../../storage/records.js'
import { newestMatching, parseAuditFilter } from '../audit-query.js'
import * as bodies from '../bodies.js'
import type { AuditEntry, CheckedPolicy, PolicyChangeView } from '../contract.js'
import type { DashboardServices } from '../dashboard-services.js'
import type { TenantTable } from './route.js'
import { assertReached } from './tenant-admin-routes.js'

const BOTH: readonly Environment[] = ['production', 'sandbox']
/** Changes that the page shows. The audit log has all. */
const MAX_CHANGES = 50

export const POLICY_ROUTES = {
  'GET /policy': {
    async answer({ services, tenant, request }) {
      const { read } = services.core.store
      const inForce = policiesInForce(tenant)
      const versions = await read.policyVersions(tenant.id)
      const { entries } = await newestMatching(
        read,
        tenant.id,
        { ...parseAuditFilter(new URLSearchParams()), event: 'policy_changed' },
        { before: Number.MAX_SAFE_INTEGER, limit: MAX_CHANGES, signal: request.signal },
      )
      return {
        in_force: inForce,
        versions: versions.map((version) => versionView(version, tenant)),
        changes: entries.map(changeView),
      }
    },
  },

  'GET /policy/version': {
    async answer({ services, tenant, query }) {
      const version = await operationsOf(services).version(tenant, query.get('hash') ?? '')
      return { ...versionView(version, tenant), policy: JSON.parse(version.policy) as ActionPolicy }
    },
  },

  'POST /policy/check': {
    takesLargeBody: true,
    body: bodies.policyQuestion,
    async answer({ services, input }): Promise<CheckedPolicy> {
      const checked = problemOr(() => checkedDraft(services, input.policy))
      if (typeof checked === 'string') return { problem: checked, hash: null, policy: null, decides: null }
      const { policy, hash } = checked
      return { problem: null, hash, policy, decides: decision(policy, input.action) }
    },
  },

  'POST /policy': {
    takesLargeBody: true,
    body: bodies.policyChange,
    async answer({ services, tenant, actor, input }) {
      const policy = input.policy === null ? null : checkedDraft(services, input.policy).policy
      const environments = input.sandbox_only ? (['sandbox'] as const) : BOTH
      const { previous, now } = await operationsOf(services).set(tenant, actor, policy, environments)
      return { previous, in_force: now }
    },
  },
} satisfies Partial<TenantTable>

const operationsOf = ({ core, clock }: DashboardServices) => new PolicyOperations({ ...core, clock })

function changeView(entry: AuditEntry): PolicyChangeView {
  const { sequence, at, actor } = entry
  const { production, sandbox, previous } = entry as unknown as Omit<
    PolicyChangeView,
    'sequence' | 'at' | 'actor'
  >
  return { sequence, at, actor, production, sandbox, previous }
}

/** @throws PolicyError; PackGradeError for a rate that the installed pack does not reach, which would refuse every approval */
function checkedDraft(services: DashboardServices, text: string): PolicyVersion {
  const version = parsePolicy(text)
  for (const { require } of version.policy.rules)
    if (require.max_fmr !== undefined) assertReached(services, require.max_fmr)
  return version
}

function problemOr<T>(check: () => T): T | string {
  try {
    return check()
  } catch (error) {
    if (error instanceof PolicyError || error instanceof PackGradeError) return error.message
    throw error
  }
}

/** @param text the action as the backend sends it: JSON, or the text itself; empty for none */
function decision(policy: ActionPolicy, text: string): PolicyRule | null {
  const trimmed = text.trim()
  return trimmed === '' ? null : ruleFor(policy, parsedAction(trimmed))
}

function parsedAction(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

function versionView({ hash, firstSetAt, policy }: PolicyVersionRecord, tenant: TenantRecord) {
  const inForce = policiesInForce(tenant)
  return {
    hash,
    first_set_at: isoTime(firstSetAt),
    in_force: BOTH.filter((environment) => inForce[environment] === hash),
    rules: (JSON.parse(policy) as ActionPolicy).rules.length,
  }
}
