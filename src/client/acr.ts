/** Values of `acr` in an approval: the checks that the capture passed besides the comparison of faces. */

/** Every `acr` of an approval, from the strongest check to the weakest: one for each combination of checks. */
export const ACR_VALUES = [
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
