/** Error for a pack that cannot be used. */
import { CodedError } from '../../src/lib/errors.js'

export const MODEL_PACK_ERROR_CODES = [
  'pack_not_found',
  'pack_malformed',
  'pack_invalid',
  'pack_file_missing',
  'pack_file_mismatch',
  'network_unusable',
  'pack_computes_otherwise',
  'calibration_invalid',
  'calibration_mismatch',
] as const
export type ModelPackErrorCode = (typeof MODEL_PACK_ERROR_CODES)[number]

/** Thrown for a pack that cannot be used. The message is for the operator: it names files and fields. */
export class ModelPackError extends CodedError<ModelPackErrorCode> {}
