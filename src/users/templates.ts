/** A user's templates: the reference, and those of other models next to it. */
import type { FollowingReferenceRecord, ReferenceRecord } from '../storage/records.js'

/** A sealed embedding of one model: a reference, or a template next to one. */
export type TemplateRecord = Pick<ReferenceRecord, 'id' | 'model' | 'sealed' | 'createdAt'>

export interface Templates {
  reference: ReferenceRecord | null
  /** Templates of other models next to the reference. */
  following: FollowingReferenceRecord[]
}

/** The user's template of a model; null where the user has none, or is not enrolled. Templates of two models are never compared. */
export function templateOf({ reference, following }: Templates, model: string): TemplateRecord | null {
  if (reference?.model === model) return reference
  return following.find((template) => template.model === model) ?? null
}
