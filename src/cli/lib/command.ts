/** A command as one declaration: what it takes, what it does, and what it says. */
import { type Command, Option } from 'commander'
import { action, note, print, UsageError } from './output.js'

interface OptionDetails {
  does: string
  default?: string
  required?: true
  choices?: readonly string[]
  /** An option that cannot be given with it. */
  conflicts?: string
  /** Reads the text that was given. @param option its name, such as `--grace` @throws UsageError */
  parse?(text: string, option: string): unknown
}

/** The options of a command, by their flags: what each does, and more where it is more than that. */
export type Options = Readonly<Record<`--${string}`, string | OptionDetails>>

/** `<name>` is always there, `[name]` may be missing. */
type ArgumentsOf<Usage> = Usage extends `${infer One} ${infer Rest}`
  ? ArgumentsOf<One> & ArgumentsOf<Rest>
  : Usage extends `<${infer Name}>`
    ? { [K in Name]: string }
    : Usage extends `[${infer Name}]`
      ? { [K in Name]: string | undefined }
      : unknown

type Camel<Text> = Text extends `${infer First}-${infer Rest}` ? `${First}${Capitalize<Camel<Rest>>}` : Text
type NameOf<Flags> = Flags extends `--${infer Name} ${string}`
  ? Camel<Name>
  : Flags extends `--${infer Name}`
    ? Camel<Name>
    : never

type ValueOf<Flags, Details> = Details extends { parse(text: string, option: string): infer Value }
  ? Value
  : Details extends { choices: ReadonlyArray<infer Choice> }
    ? Choice
    : Flags extends `${string}...>`
      ? string[]
      : string
type GivenOf<Flags, Details> = Flags extends `${string} <${string}`
  ? ValueOf<Flags, Details> | (Details extends { default: string } | { required: true } ? never : undefined)
  : boolean

/** Arguments and options by name; an option without a value is false where it was not given. */
export type Asked<Usage, Taken> = ArgumentsOf<Usage> & {
  [Flags in keyof Taken as NameOf<Flags>]: GivenOf<Flags, Taken[Flags]>
} & { json: boolean }

export interface Declaration<Usage extends string, Taken extends Options, Answer> {
  options?: Taken
  /** Describes `--json`. */
  json?: string
  /** Follows the options in the help. */
  help?: string
  /** The work, whose answer is printed: as text for people, or as JSON. */
  answer(asked: Asked<Usage, Taken>): Promise<Answer>
  /** The part of the answer that is printed as JSON; by default all of it. */
  view?(answer: NoInfer<Answer>): unknown
  text(answer: NoInfer<Answer>, asked: Asked<Usage, Taken>): string
  /** A sentence that only people see, on stderr; null for none. */
  remark?(answer: NoInfer<Answer>, asked: Asked<Usage, Taken>): string | null
}

/** The answer of a command with several kinds of work: what programs and what people read of it. */
export interface Told {
  view: unknown
  text: string
}
export const TOLD = { view: ({ view }: Told) => view, text: ({ text }: Told) => text }

/** Adds a command below another. @param usage its name and its arguments, in the syntax of commander */
export function subcommand<Usage extends string, const Taken extends Options, Answer>(
  parent: Command,
  usage: Usage,
  declaration: Declaration<Usage, Taken, Answer> & { does: string },
): void {
  declare(parent.command(usage).description(declaration.does), usage, declaration)
}

/** Gives a command its options and its work. @param usage its arguments, in the syntax of commander */
export function declare<Usage extends string, const Taken extends Options, Answer>(
  command: Command,
  usage: Usage,
  { options, json, help, answer, view, text, remark }: Declaration<Usage, Taken, Answer>,
): void {
  const names = [...usage.matchAll(/[<[]([^>\]]+)/g)].map(([, name]) => name!)
  const taken = Object.entries<string | OptionDetails>(options ?? {}).map(([flags, given]) => {
    const details = typeof given === 'string' ? { does: given } : given
    return { option: optionOf(flags, details), parse: details.parse }
  })
  for (const { option } of taken) command.addOption(option)
  command.option('--json', json ?? 'print JSON')
  if (help !== undefined) command.addHelpText('after', help)
  command.action(
    action(async (...given: unknown[]) => {
      const values = given.at(-2) as Record<string, unknown>
      const asked = {
        json: values.json === true,
        ...Object.fromEntries(names.map((name, index) => [name, given[index]])),
        ...Object.fromEntries(taken.map(({ option, parse }) => valueIn(values, option, parse))),
      } as Asked<Usage, Taken>
      const answered = await answer(asked)
      print(asked, view ? view(answered) : answered, () => text(answered, asked))
      const remarks = asked.json ? null : remark?.(answered, asked)
      if (remarks) note(remarks)
    }),
  )
}

/** @param value what the text of the option means, if anything @throws UsageError invalid_option */
export function expected<Value>(text: string, option: string, value: Value | undefined, what: string): Value {
  if (value !== undefined) return value
  throw new UsageError('invalid_option', `${option} is "${text}"; expected ${what}.`)
}

/** Reads one of some words. */
export function oneOf<Word extends string>(known: readonly Word[], what = known.join(', ')) {
  return (text: string, option: string): Word =>
    expected(
      text,
      option,
      known.find((word) => word === text),
      what,
    )
}

/** Reads a whole number from 1 on. */
export function wholeNumberTo(most: number) {
  return (text: string, option: string): number => {
    const isFitting = /^\d{1,9}$/.test(text) && Number(text) >= 1 && Number(text) <= most
    return expected(text, option, isFitting ? Number(text) : undefined, `a whole number from 1 to ${most}`)
  }
}

function optionOf(flags: string, details: OptionDetails): Option {
  const option = new Option(flags, details.does).makeOptionMandatory(details.required ?? false)
  if (details.choices) option.choices(details.choices)
  if (details.conflicts) option.conflicts(details.conflicts)
  return details.default === undefined ? option : option.default(details.default)
}

function valueIn(
  values: Record<string, unknown>,
  option: Option,
  parse: OptionDetails['parse'],
): [string, unknown] {
  const name = option.attributeName()
  const value = values[name]
  if (!option.required) return [name, value === true]
  return [name, parse && value !== undefined ? parse(value as string, option.long!) : value]
}
