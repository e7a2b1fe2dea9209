/** The parts of verifies, enrollments and challenges that are about policies. */
import Type from 'typebox'
import type { EnrollPart, VerifyPart } from '../../api/call-parts.js'
import { nullable, ownId, text } from '../../api/schemas.js'
import type { Reached } from '../../api/verdict-fields.js'
import { DAY_MS } from '../../lib/clock.js'
import type { StoreReader, StoreTransaction } from '../../storage/store.js'
import type { Subject, TemplateVault } from '../../users/template-vault.js'
import type { UserCall } from '../../verification/call.js'
import type { VerifyCall } from '../../verification/verdict.js'
import type { ChallengePart } from '../challenges/exports.js'
import { policyHashIn } from './policy-book.js'
import { assertCaptureMeets } from './policy-check.js'
import { type ApprovalInput, PolicyCondition } from './policy-condition.js'
import { policyServices } from './policy-services.js'
import { policyReader } from './policy-table.js'
import { retentionWriter } from './retention-statements.js'
import { needsSecondApprover } from './second-approval.js'

const EVERYWHERE = ['jwt', 'audit', 'kept', 'refused'] as const

/** Holds an approval to the rule of the tenant's policy that is for its action. */
export const verifyPart: VerifyPart<PolicyCondition> = {
  request: {
    approval_id: Type.Optional(
      ownId(
        'Where the policy of the tenant asks for a second person: the verification id of another user’s verdict on the same action, whose reason is `second_approval_required`. The verdict uses it up.',
      ),
    ),
  },
  errors: ['policy_not_met'],
  fields: [
    {
      name: 'policy_hash',
      response: nullable(text('SHA-256 of the policy that was in force. Null where the tenant has none.')),
      to: EVERYWHERE,
      value: (_, condition) => condition?.inForce.hash,
    },
    {
      name: 'policy_rule',
      response: nullable(
        text(
          'Name of the rule of the policy that decided about this action. Null where the tenant has none.',
        ),
      ),
      to: EVERYWHERE,
      value: (_, condition) => condition?.inForce.rule.name,
    },
    {
      name: 'approval_id',
      response: nullable(text('Other user’s verdict that it has used up.')),
      to: EVERYWHERE,
      value: usedApproval,
    },
  ],
  create(services) {
    const own = policyServices(services)
    const { policies, vault, secondApproval, store, environment } = own
    const conditionOf = async (read: StoreReader, call: VerifyCall, hash: string | null) => {
      const inForce = await policies.ruleFor(read, call, hash)
      return inForce && new PolicyCondition(own, call, inForce)
    }
    return {
      prepare: (call) => conditionOf(store.read, call, policyHashIn(call.tenant, environment)),
      async renew(tx, call, standing) {
        const hash = standing
          ? standing.policyHash
          : await tx.statements(policyReader).hashInForce(call.tenant.id, environment)
        return conditionOf(tx, call, hash)
      },
      async onVerdict(tx, call, verdict, condition, { verificationId, at }) {
        const { subject, reason, replaySuspected } = verdict
        if (!condition) return {}
        const { inForce } = condition
        const isFirst = reason === 'second_approval_required'
        if (subject && inForce.erasesUnused && (reason === null || isFirst))
          await noteUse(vault, tx, call, subject, at)
        if (isFirst && !replaySuspected) await secondApproval.keep(tx, call, inForce, { verificationId, at })
        return {}
      },
    }
  },
}

/** The verdict of the other person that an approval has used up. */
function usedApproval({ call, verdict }: Reached, condition: PolicyCondition | null): string | undefined {
  const isUsed = verdict.reason === null && condition && needsSecondApprover(condition.inForce)
  return isUsed ? (call.input as ApprovalInput).approval_id : undefined
}

/**
 * Notes when a production user was last used, at most once a day: a note is a write, and policies that erase unused users count in days.
 * The sandbox notes nothing here: it erases unused users by a setting of its own. @param at milliseconds since the Unix epoch
 */
async function noteUse(
  vault: TemplateVault,
  tx: StoreTransaction,
  { user, tenant, environment }: Pick<UserCall<unknown>, 'user' | 'tenant' | 'environment'>,
  subject: Subject,
  at: number,
): Promise<void> {
  if (environment !== 'production') return
  const use = { blindIndex: user.blindIndex, tenantId: tenant.id, sealed: vault.sealUserId(subject, user.id) }
  await tx.statements(retentionWriter).noteUse({ ...use, usedAt: at, unlessSince: at - DAY_MS })
}

/** Notes when a user was enrolled: a policy may count the days from then, even one that is set later. */
export const enrollPart: EnrollPart = {
  create: ({ vault, clock }) => ({
    prepare: async (call) => async (tx, subject) => {
      await noteUse(vault, tx, call, subject, clock.now())
      return {}
    },
  }),
}

/** Refuses a challenge whose movements are fewer than the rule asks of its action. */
export const challengePart: ChallengePart = {
  errors: ['policy_not_met'],
  create(services) {
    const own = policyServices(services)
    return {
      async prepare(call, purpose) {
        if (purpose === 'verify') await assertCaptureMeets(own, call)
        return null
      },
    }
  },
}
