/** A pack that cannot be used, and why. */
import { CodedError } from '../../src/lib/errors.js'

export type ModelPackErrorCode =
  | 'pack_not_found'
  | 'pack_malformed'
  | 'pack_invalid'
  | 'pack_file_missing'
  | 'pack_file_mismatch'
  | 'calibration_invalid'
  | 'calibration_mismatch'

/** For the operator: the message names files and fields. */
export class ModelPackError extends CodedError<ModelPackErrorCode> {
  override readonly name = 'ModelPackError'
}
