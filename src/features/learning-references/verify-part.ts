/** Has a reference learn from the capture of an approval. */
import type { VerifyPart } from '../../api/call-parts.js'
import { scoreView } from '../../api/views.js'
import type { Verdict } from '../../verification/verdict.js'
import { ageReference } from './reference-ageing.js'
import { followReference, modelsToEmbed } from './reference-following.js'

export const verifyPart: VerifyPart = {
  fields: [],
  create: (services) => ({
    alsoEmbed: ({ tenant }, subject) => modelsToEmbed(services, tenant, subject),
    async onVerdict(tx, { tenant }, verdict, _evidence, { at }) {
      const { subject, comparison, terms } = verdict
      if (!isClear(verdict) || !subject || !comparison) return {}
      const approved = { subject, comparison, terms }
      const followed = await followReference(services, tx, tenant, approved)
      const similarity = await ageReference(services, tx, tenant, approved, at)
      return {
        ...(followed !== null && { reference_followed: followed }),
        ...(similarity !== null && { reference_aged: { similarity: scoreView(similarity) } }),
      }
    },
  }),
}

/** Whether an approval is of a capture without signals that was never seen before. */
function isClear({ reason, replaySuspected, evidence: { integrity } }: Verdict): boolean {
  return reason === null && !replaySuspected && (integrity === null || integrity.signals.length === 0)
}
