/** The routes for a tenant's policy: what is in force, its versions and changes, the check of a draft, and the change itself. */
import Type from 'typebox'
import { PackGradeError } from '../../../models/pack/pack-grade.js'
import { nullable } from '../../api/schemas.js'
import { type ActionPolicy, type PolicyRule, ruleFor } from '../../contract/action-policy.js'
import { assertReached } from '../../dashboard/lib/assert-reached.js'
import type { AuditEntry } from '../../dashboard/lib/audit-contract.js'
import { newestMatching, parseAuditFilter } from '../../dashboard/lib/audit-query.js'
import { asks, consoleRoute, READS } from '../../dashboard/lib/route.js'
import type { FeatureHost } from '../feature.js'
import { PolicyError, type PolicyVersion, parsePolicy } from './policy.js'
import {
  actionIn,
  environmentsOf,
  type PoliciesInForce,
  PolicyOperations,
  policiesInForce,
  versionView,
  versionViews,
} from './policy-operations.js'

interface PolicyChangeView extends PoliciesInForce {
  sequence: number
  at: string
  actor: string
  previous: PoliciesInForce
}

/** JSON of a policy, which may be a draft with faults. */
const policyText = Type.String({ maxLength: 200_000 })

type PolicyHost = Pick<FeatureHost, 'store' | 'operations' | 'clock' | 'engine' | 'config'>

/** Changes that the page shows. The audit log has all. */
const MAX_CHANGES = 50

export const policyRoutes = (host: PolicyHost) => ({
  'GET /policy': consoleRoute({
    right: 'read',
    async answer({ tenant, request }) {
      const { read } = host.store
      const { entries } = await newestMatching(
        read,
        tenant.id,
        { ...parseAuditFilter(new URLSearchParams()), event: 'policy_changed' },
        { before: Number.MAX_SAFE_INTEGER, limit: MAX_CHANGES, signal: request.signal },
      )
      return {
        in_force: policiesInForce(tenant),
        versions: await versionViews(read, tenant),
        /** The latest changes, newest first, from the audit log. */
        changes: entries.map(changeView),
      }
    },
  }),

  'GET /policy/version': consoleRoute({
    right: 'read',
    /** The hash of a version, or its first 8 digits or more. */
    query: asks<{ hash: string }>(),
    async answer({ tenant, query }) {
      const version = await new PolicyOperations(host).version(tenant, query.get('hash') ?? '')
      return { ...versionView(version, tenant), policy: JSON.parse(version.policy) as ActionPolicy }
    },
  }),

  /** Checks a draft. A fault of it is no error: the answer names it. */
  'POST /policy/check': consoleRoute({
    right: 'read',
    harmless: READS,
    takesLargeBody: true,
    /** The action is as the backend sends it: JSON, or a text; empty for none. */
    body: { policy: policyText, action: policyText },
    async answer({ input }) {
      const checked = problemOr(() => checkedDraft(host, input.policy))
      if (typeof checked === 'string') return { problem: checked, hash: null, policy: null, decides: null }
      const { policy, hash } = checked
      return { problem: null, hash, policy, decides: decision(policy, input.action) }
    },
  }),

  'POST /policy': consoleRoute({
    // The tenant's admins may too: a policy only asks for more than the contract, which the operator sets.
    right: 'write',
    takesLargeBody: true,
    /** Null for no policy. */
    body: { policy: nullable(policyText), sandbox_only: Type.Boolean() },
    async answer({ tenant, actor, input }) {
      const policy = input.policy === null ? null : checkedDraft(host, input.policy).policy
      const environments = environmentsOf(input.sandbox_only)
      const { previous, now } = await new PolicyOperations(host).set(tenant, actor, policy, environments)
      return { previous, in_force: now }
    },
  }),
})

function changeView(entry: AuditEntry): PolicyChangeView {
  const { sequence, at, actor, production, sandbox, previous } = entry as unknown as PolicyChangeView
  return { sequence, at, actor, production, sandbox, previous }
}

/** @throws PolicyError; PackGradeError for a rate that the installed pack does not reach, which would refuse every approval */
function checkedDraft(host: PolicyHost, text: string): PolicyVersion {
  const version = parsePolicy(text)
  for (const { require } of version.policy.rules)
    if (require.max_fmr !== undefined) assertReached(host, require.max_fmr)
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
  return trimmed === '' ? null : ruleFor(policy, actionIn(trimmed))
}
