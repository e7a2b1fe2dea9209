/** The refusal of an input that fits its schema and makes no sense. */
import { DomainError } from '../../lib/domain-error.js'

/** @param issue what is wrong, such as "must be a time by ISO 8601" */
export function invalidInput(path: string, issue: string): DomainError {
  return new DomainError('invalid_request', { details: [{ path, issue }] })
}
