/** Says what to do about a verdict that does not allow the action: the same sentences in each SDK. */

/** Sentences by the code of the error, and for a rejection by its reason. */
export const VERDICT_REMEDIES: Partial<Record<string, string>> = {
  malformed: 'Pass the token of an answer of verify, unchanged.',
  no_verdict: 'Let the person begin again.',
  proof_required: 'Pass the capture_proof of the address with which the person came back.',
  signature_invalid: 'Compare the signing secrets: a rotation may not have reached this backend.',
  keys_unavailable: "Try again: without the issuer's keys no public verdict can be checked.",
  wrong_audience: "Compare the tenant's id.",
  wrong_issuer: 'Compare the base URL of the environment.',
  wrong_environment: 'Compare the API key and the base URL.',
  wrong_user: 'Take the user from your own session; if you do, look for an attack.',
  wrong_action: 'Derive the action here as you did for the check: every member counts.',
  wrong_nonce: 'Send the nonce that you gave to this session.',
  wrong_capture_session: 'Compare the id that you kept for this person.',
  wrong_capture_binding:
    'Make the session for the same browser, or accept any where links are opened on another device.',
  not_displayed: 'Have the action countersigned on a page that shows its text.',
  wrong_context: 'Have a stronger capture made, such as the frames of a challenge.',
  too_old: 'Have the action countersigned again.',
  replay_suspected: 'Have a new photo taken, or accept replays where the same photo may be sent twice.',
  already_used: 'Each verdict is good for one action: have it countersigned again.',
  no_match: 'Offer another try, and from the third on the way without the face.',
  liveness_failed: 'Show the guidance of the answer, and ask for a new challenge.',
  replayed_capture: 'Have a new capture taken: the same file is refused for 24 hours.',
  locked_out: 'Lead to the way without the face until the lockout ends.',
  reference_disabled: 'Lead to the way without the face, and enroll the user again.',
  review_required: 'Have somebody look at the case, and lead to the way without the face.',
  same_person: 'Have somebody else verify the action with the same approval_id.',
  second_approval_required: 'Have another user verify the same action, with approval_id.',
}

/** @returns undefined for a reason that this version does not know, and where the message of the error says it */
export function remedyOf(code: string, reason: string | undefined): string | undefined {
  return VERDICT_REMEDIES[code === 'not_approved' ? (reason ?? '') : code]
}
