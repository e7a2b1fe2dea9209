/** Has a reference learn from the capture of an approval. */
import type { VerifyPart } from '../../api/call-parts.js'
import { scoreView } from '../../api/views.js'
import type { Verdict } from '../../verification/verdict.js'
import { ReferenceAgeing } from './reference-ageing.js'
import { ReferenceFollowing } from './reference-following.js'

export const verifyPart: VerifyPart = {
  fields: [],
  create(services) {
    const following = new ReferenceFollowing(services)
    const ageing = new ReferenceAgeing(services)
    return {
      alsoEmbed: (call, subject) => following.modelsToEmbed(call, subject),
      async onVerdict(tx, call, verdict, _evidence, { at }) {
        const { subject, comparison, terms } = verdict
        if (!isClear(verdict) || !subject || !comparison) return {}
        const followed = await following.follow(tx, call, subject, comparison, terms)
        const aged = await ageing.age(tx, call, subject, comparison, terms, at)
        return {
          ...(followed !== null && { reference_followed: followed }),
          ...(aged && { reference_aged: { similarity: scoreView(aged.similarity) } }),
        }
      },
    }
  },
}

/** Whether an approval is of a capture without signals that was never seen before. */
function isClear({ reason, replaySuspected, evidence: { integrity } }: Verdict): boolean {
  return reason === null && !replaySuspected && (integrity === null || integrity.signals.length === 0)
}
