/** What every part throws whose settings cannot be used. */

/** Each problem is a sentence for the operator; the message holds one a line. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  readonly problems: readonly string[]

  constructor(problems: string | readonly string[]) {
    const list = [problems].flat()
    super(list.join('\n'))
    this.problems = list
  }
}
