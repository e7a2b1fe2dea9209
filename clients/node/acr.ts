/** Values of `acr` in an approval: the checks that the capture passed besides the comparison of faces. */

/**
 * Every `acr` of an approval: one for each combination of checks. First those in which a passkey signed, with a key in hardware (`hwk`) or
 * in software (`swk`); within each group from the strongest check of liveness to the weakest.
 */
export const ACR_VALUES = [
  'urn:countersign:acr:face-active-pad-hwk',
  'urn:countersign:acr:face-active-hwk',
  'urn:countersign:acr:face-active-turn-pad-hwk',
  'urn:countersign:acr:face-active-turn-hwk',
  'urn:countersign:acr:face-active-nod-pad-hwk',
  'urn:countersign:acr:face-active-nod-hwk',
  'urn:countersign:acr:face-no-motion-pad-hwk',
  'urn:countersign:acr:face-pad-hwk',
  'urn:countersign:acr:face-no-motion-hwk',
  'urn:countersign:acr:face-hwk',
  'urn:countersign:acr:face-active-pad-swk',
  'urn:countersign:acr:face-active-swk',
  'urn:countersign:acr:face-active-turn-pad-swk',
  'urn:countersign:acr:face-active-turn-swk',
  'urn:countersign:acr:face-active-nod-pad-swk',
  'urn:countersign:acr:face-active-nod-swk',
  'urn:countersign:acr:face-no-motion-pad-swk',
  'urn:countersign:acr:face-pad-swk',
  'urn:countersign:acr:face-no-motion-swk',
  'urn:countersign:acr:face-swk',
  'urn:countersign:acr:face-active-pad',
  'urn:countersign:acr:face-active',
  'urn:countersign:acr:face-active-turn-pad',
  'urn:countersign:acr:face-active-turn',
  'urn:countersign:acr:face-active-nod-pad',
  'urn:countersign:acr:face-active-nod',
  'urn:countersign:acr:face-no-motion-pad',
  'urn:countersign:acr:face-pad',
  'urn:countersign:acr:face-no-motion',
  'urn:countersign:acr:face',
] as const

/** One of `ACR_VALUES`. */
export type Acr = (typeof ACR_VALUES)[number]

/**
 * The `acr` values to accept for an action with a high risk: the person turned and nodded the head, whether or not a network judged
 * the pictures too.
 * @example
 * await countersign.verifyVerdict(jwt, { userId, action, acr: ACTIVE_ACR })
 */
export const ACTIVE_ACR: readonly Acr[] = [
  'urn:countersign:acr:face-active-pad',
  'urn:countersign:acr:face-active',
]

/**
 * The `acr` values to accept where two factors are needed: the person turned and nodded the head, and a passkey of theirs signed for the
 * action. Leave out the values in `-swk` where only a key in hardware counts. Where a passkey may but need not be used, accept these and
 * those of `ACTIVE_ACR`.
 * @example
 * await countersign.verifyVerdict(jwt, { userId, action, acr: PASSKEY_ACR })
 */
export const PASSKEY_ACR: readonly Acr[] = [
  'urn:countersign:acr:face-active-pad-hwk',
  'urn:countersign:acr:face-active-hwk',
  'urn:countersign:acr:face-active-pad-swk',
  'urn:countersign:acr:face-active-swk',
]

/** The `acr` values of a face without a passkey. Every one with a passkey is accepted wherever all of these are. */
export const FACE_ACR: readonly Acr[] = ACR_VALUES.filter((acr) => !/-(?:hwk|swk)$/.test(acr))
