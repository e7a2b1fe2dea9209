/** A user's templates: the reference, and those of other models next to it. */
import type { AgedReferenceRecord, FollowingReferenceRecord, ReferenceRecord } from '../storage/records.js'

/** A sealed embedding of one model: a reference, or a template next to one. */
export type TemplateRecord = Pick<ReferenceRecord, 'id' | 'model' | 'sealed' | 'createdAt'>

export interface Templates {
  reference: ReferenceRecord | null
  /** Templates of other models next to the reference. */
  following: FollowingReferenceRecord[]
  /** The template that the reference has become by captures that were taken in; null where none was. */
  aged: AgedReferenceRecord | null
}

/** The user's template of a model; null where the user has none, or is not enrolled. Templates of two models are never compared. */
export function templateOf({ reference, following }: Templates, model: string): TemplateRecord | null {
  if (reference?.model === model) return reference
  return following.find((template) => template.model === model) ?? null
}

/**
 * The template that captures are compared with: the aged one instead of the reference, where there is one. An aged template of another
 * model than the reference's is one that a change of the model pack has left behind.
 */
export function comparedTemplate({ reference, aged }: Templates, template: TemplateRecord): TemplateRecord {
  const isOfReference = template.id === reference?.id && aged?.model === reference.model
  return isOfReference ? aged! : template
}
