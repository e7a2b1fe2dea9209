/** The error of every part whose settings cannot be used. */
import { CodedError } from '../lib/errors.js'

/** Each problem is a sentence for the operator. The message has one problem a line. */
export class ConfigError extends CodedError<'invalid_configuration'> {
  readonly problems: readonly string[]

  constructor(problems: string | readonly string[]) {
    const list = [problems].flat()
    super('invalid_configuration', list.join('\n'))
    this.problems = list
  }
}
