/** `acr` of an approval: what was checked of the capture besides whose face it shows. */

/** Every name that the service gives, from the strongest check to the weakest: one for each combination. */
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

export type Acr = (typeof ACR_VALUES)[number]

/** For an action with a high risk: turns and nods of the head, whether or not a network judged the pictures too. */
export const ACTIVE_ACR: readonly Acr[] = [
  'urn:countersign:acr:face-active-pad',
  'urn:countersign:acr:face-active',
]
