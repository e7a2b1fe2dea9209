/** A command as one declaration: what it takes, what it does, and what it says. */
import { type Command, Option } from 'commander'
import type { Config } from '../../config/config.js'
import type { TenantRecord } from '../../storage/records.js'
import type { CommandCore, CommandHost } from './feature-command.js'
import { fail, note, UsageError } from './output.js'

export interface OptionDetails {
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

export interface Words<Usage extends string, Taken extends Options, Answer> {
  /** Makes it a command below the one that is given. */
  does?: string
  options?: Taken
  /** Describes `--json`; null where the command has no such option. */
  json?: string | null
  /** Follows the options in the help. */
  help?: string
  /** The part of the answer that is printed as JSON; by default all of it. */
  view?(answer: NoInfer<Answer>): unknown
  /** Missing where the work itself prints, as it goes on. */
  text?(answer: NoInfer<Answer>, asked: Asked<Usage, Taken>): string
  /** A sentence that only people see, on stderr; null for none. */
  remark?(answer: NoInfer<Answer>, asked: Asked<Usage, Taken>): string | null
}

interface Declaration<Usage extends string, Taken extends Options, Answer>
  extends Words<Usage, Taken, Answer> {
  /** The work, whose answer is printed: as text for people, or as JSON. */
  answer(asked: Asked<Usage, Taken>): Promise<Answer>
}

/** The answer of a command with several kinds of work: what programs and what people read of it. */
export interface Told {
  view: unknown
  text: string
}
export const TOLD = { view: ({ view }: Told) => view, text: ({ text }: Told) => text }

/**
 * Gives a command its options and its work, or adds one below it.
 * @param usage its arguments, in the syntax of commander; after the name, for a command below
 */
export function declare<Usage extends string, const Taken extends Options, Answer>(
  parent: Command,
  usage: Usage,
  { does, options, json: ofJson, help, answer, view, text, remark }: Declaration<Usage, Taken, Answer>,
): void {
  const command = does === undefined ? parent : parent.command(usage).description(does)
  const names = [...usage.matchAll(/[<[]([^>\]]+)/g)].map(([, name]) => name!)
  const taken = Object.entries<string | OptionDetails>(options ?? {}).map(([flags, given]) => {
    const details = typeof given === 'string' ? { does: given } : given
    return { option: optionOf(flags, details), parse: details.parse }
  })
  for (const { option } of taken) command.addOption(option)
  if (ofJson !== null) command.option('--json', ofJson ?? 'print JSON')
  if (help !== undefined) command.addHelpText('after', help)
  command.action(async (...given: unknown[]) => {
    // Commander passes the options before the command.
    const values = given.at(-2) as Record<string, unknown>
    const json = values.json === true
    try {
      const asked = {
        json,
        ...Object.fromEntries(names.map((name, index) => [name, given[index]])),
        ...Object.fromEntries(taken.map(({ option, parse }) => valueIn(values, option, parse))),
      } as Asked<Usage, Taken>
      const answered = await answer(asked)
      if (json && text) process.stdout.write(`${JSON.stringify(view ? view(answered) : answered)}\n`)
      if (json) return
      if (text) process.stdout.write(`${text(answered, asked)}\n`)
      const remarks = remark?.(answered, asked)
      if (remarks) note(remarks)
    } catch (error) {
      fail(error, { json })
    }
  })
}

/** The work of a command on the database gets this, in the form of a call of a route of the dashboard. */
type CoreCall = CommandCore & { config: Config }
export type TenantCall = CoreCall & { tenant: TenantRecord }

/** The ways to declare a command that works on the database: on all of it, or on the tenant that its argument `<tenant>` names. */
export function commandsOn({ withCore }: Pick<CommandHost, 'withCore'>) {
  const onTenant = (find: 'find' | 'findLive') =>
    declaring<TenantCall>((name, work) =>
      withCore(async (core, config) => work({ ...core, config, tenant: await core.tenancy[find](name) })),
    )
  return {
    coreCommand: declaring<CoreCall>((_name, work) => withCore((core, config) => work({ ...core, config }))),
    tenantCommand: onTenant('find'),
    /** Refuses a deleted tenant. */
    liveTenantCommand: onTenant('findLive'),
  }
}

/** @param open opens the database for the work, and gets the tenant that was named, if any */
function declaring<Call>(open: <T>(name: string, work: (call: Call) => Promise<T>) => Promise<T>) {
  return <Usage extends string, const Taken extends Options, Answer>(
    command: Command,
    usage: Usage,
    declaration: Words<Usage, Taken, Answer> & {
      answer(call: Call, asked: Asked<Usage, Taken>): Promise<Answer>
    },
  ): void =>
    declare(command, usage, {
      ...declaration,
      answer: (asked: Asked<Usage, Taken>) =>
        open((asked as { tenant?: string }).tenant ?? '', (call) => declaration.answer(call, asked)),
    })
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
