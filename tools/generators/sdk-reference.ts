/** Makes docs/sdk.md from the declarations that the SDK is published with: methods, options and errors, with the comments that an editor shows. */
import { readFileSync } from 'node:fs'
import { packageFile } from '../../src/lib/package-root.js'
import { markdownList } from './markdown-list.js'
import { type Export, exportsOf, hiddenBase, type Member, membersOf } from './sdk-declarations.js'

/** Meanings of members that have no comment, since their names say enough to an editor. */
const MEANINGS: Record<string, string> = {
  environment: 'Environment of the API key.',
}

const isOptional = ({ declaration, name }: Member) =>
  declaration.replace(/^readonly /, '').startsWith(`${name}?`)

const isMethod = ({ declaration }: Member) => /^\w+[<(]/.test(declaration)

/** @param areGiven the reader gives them, and some can be left out */
function fields(members: Member[], { areGiven = true } = {}): string {
  return markdownList(
    members.map((member) => [
      `\`${!areGiven && isMethod(member) ? callOf(member.name, member.declaration) : member.name}\`${areGiven && !isOptional(member) ? ', required' : ''}`,
      (areGiven ? member.description : member.summary) || (MEANINGS[member.name] ?? ''),
    ]),
  )
}

/** Whether two lists both have a member, alike. An action is a callback in one and a value in the other. */
const isIn =
  (others: Member[]) =>
  ({ name }: Member) =>
    name !== 'action' && others.some((other) => other.name === name)

/** The members that the other list does not have. */
const without = (members: Member[], others: Member[]) => members.filter((one) => !isIn(others)(one))

/** The names, in code, of the members that both lists have. */
function sharedNames(members: Member[], others: Member[]): string {
  const names = members.filter(isIn(others)).map(({ name }) => `\`${name}\``)
  return `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`
}

/** Names of the parameters of a function, as in `typeCode(sessionId, code)`. Values that are taken apart at once are three dots. */
function callOf(name: string, declaration: string): string {
  const list = declaration.slice(declaration.indexOf('(') + 1)
  const names: string[] = []
  let [depth, part] = [0, '']
  for (const letter of list) {
    const isClosing = /[)}>\]]/.test(letter) && !part.endsWith('=')
    if (depth === 0 && (letter === ',' || letter === ')')) {
      if (part.trim()) names.push(/^\s*(\w+)/.exec(part)?.[1] ?? '{ … }')
      part = ''
      if (letter === ')') break
      continue
    }
    if (/[({<[]/.test(letter)) depth += 1
    if (isClosing) depth -= 1
    part += letter
  }
  return `${name}(${names.join(', ')})`
}

const exampleOf = ({ example }: { example: string }) => (example ? ['', '```ts', example, '```'] : [])

const uniqueNames = (members: Member[]) =>
  members.filter((member, at) => members.findIndex(({ name }) => name === member.name) === at)

/** Without what the page says once above all methods. */
const briefly = (description: string) =>
  description
    .replace('Throws ApiError such as ', 'Throws ')
    .replace(/; TypeError (?:for|as|that)\b.*?\.$/, '.')

/** Each method with its comment and its example. Overloads share both. */
function methods(members: Member[]): string {
  return uniqueNames(members)
    .map((one) => [`### ${one.name}`, '', briefly(one.description), ...exampleOf(one)].join('\n'))
    .join('\n\n')
}

/** The name behind `extends` in the first line of a declaration. */
const baseOf = (text: string) => / extends (\w+)/.exec(text.split('\n')[0]!)?.[1]

/** Fields of an error, those of a base that is not exported included, without the two whose value is fixed. */
function errorFields({ file, name, text }: Export): Member[] {
  const base = baseOf(text)
  const own = membersOf(file, name)
  const isHidden = base !== undefined && hiddenBase(file, base) !== undefined
  const more = isHidden ? membersOf(file, base) : []
  return [...own, ...more.filter((one) => own.every((other) => other.name !== one.name))].filter(
    ({ declaration }) => !/\bname\b.* "|\bcode = "/.test(declaration),
  )
}

/** The list of the fields that an error adds to an `Error`. */
function addedFields(one: Export): string {
  const added = errorFields(one).filter(({ name }) => one.name === 'CountersignError' || name !== 'code')
  return fields(added, { areGiven: false })
}

/**
 * An error with its comment and the fields that it adds to an `Error`.
 * @param before the errors above it, one of which may have the same fields
 */
function errorEntry(one: Export, before: readonly Export[]): string {
  const fixed = membersOf(one.file, one.name).find(({ declaration }) => /\bcode = "/.test(declaration))
  const code = fixed ? ` Its \`code\` is \`${/"(\w+)"/.exec(fixed.declaration)![1]}\`.` : ''
  const shown = addedFields(one)
  const alike = before.find((other) => addedFields(other) === shown)
  const list = shown ? ['', alike ? `Its fields are those of \`${alike.name}\`.` : shown] : []
  return [`### ${one.name}`, '', `${one.description}${code}`, ...list, ...exampleOf(one)].join('\n')
}

const isError = ({ kind, name }: Export) => kind === 'class' && name.endsWith('Error')

/** Names that have a section of their own above the lists. */
const ELSEWHERE = new Set(['Countersign', 'FakeCountersign', 'FakeCapturePage'])

/** Everything that the modules of the SDK export, by the name from which an application imports it. */
export const EXPORTS = () =>
  Object.entries<{ types: string }>(JSON.parse(readFileSync(packageFile('package.json'), 'utf8')).exports)
    .filter(([path]) => path.startsWith('./client'))
    .map(([path, { types }]) => ({
      module: path.replace('.', 'countersign'),
      exports: exportsOf(types.replace(/^\.\/dist\/|\.d\.ts$/g, '')),
    }))

/** Whether the page has to name an export. The types are left to editors, which show them where they are used. */
export const isNamed = ({ kind }: Export) => kind !== 'interface' && kind !== 'type'

const firstSentence = (text: string) => text.split(/(?<=\.) (?=[A-Z])/)[0]!

/** A list of a module's functions and classes, and the names of its constants. */
function moduleSection(module: string, all: Export[]): string {
  const shown = all.filter((one) => isNamed(one) && !isError(one) && !ELSEWHERE.has(one.name))
  const constants = shown.filter(({ kind }) => kind === 'const').map(({ name }) => `\`${name}\``)
  const list = markdownList(
    shown
      .filter(({ kind }) => kind !== 'const')
      .map(({ name, kind, text, summary }) => [
        `\`${kind === 'function' ? callOf(name, text) : name}\``,
        firstSentence(summary),
      ]),
  )
  const listed = constants.length > 0 ? ['', `Constants: ${constants.join(', ')}.`] : []
  return [`### ${module}`, '', list, ...listed].join('\n')
}

/** Members that the page shows, and that the tests check for comments. */
export const SHOWN = {
  options: () => [
    ...membersOf('clients/node/client-options', 'CountersignOptions'),
    ...membersOf('clients/node/observer', 'Hooks'),
  ],
  client: () => membersOf('clients/node/countersign', 'Countersign').filter(isMethod),
  call: () => membersOf('clients/node/client-options', 'CallOptions'),
  expectations: () => membersOf('clients/node/verdict', 'VerdictExpectations'),
  stepUp: () => membersOf('clients/node/step-up', 'StepUpOptions'),
  fakeOptions: () => membersOf('clients/node/testing/fake-options', 'FakeOptions'),
  fake: () => membersOf('clients/node/testing/fake-countersign', 'FakeCountersign'),
  capturePage: () => membersOf('clients/node/testing/fake-capture-page', 'FakeCapturePage'),
}

/** docs/sdk.md */
export function sdkPage(): string {
  return `# The SDK for TypeScript and JavaScript

Methods, options and errors of \`countersign/client\` ([the package](guides/quick-start.md#the-package)). Your editor shows the types. Requests and answers have the names of
the [API](openapi.json), and [the verdict](verdict.md#claims) explains the claims. [Step-up on a route](guides/step-up.md) shows the SDK at work.

\`verify\` asks for a verdict. \`verifyVerdict\` checks it, in the program that carries the action out, before it does so.
It uses the verdict up: a \`replayStore\` has \`consume(jti, expiresAt)\`, which returns true the first time that it gets a \`jti\`, also between processes, and false afterwards.
\`expiresAt\` is in Unix seconds.

Several processes share used verdicts by \`new RedisReplayStore(client)\`, with a client of \`ioredis\` or \`redis\`, or by \`new PostgresReplayStore(pool)\`, with one of \`pg\`. Call its
\`createTable()\` once. Where the store does not answer, the check fails. Services in TypeScript, Python and Go can share a store. Without one, a worker of \`node:cluster\` warns once.
The SDK cannot see other hosts, containers and processes.

## Options of the client

\`new Countersign(options)\` throws a \`TypeError\` for options that cannot work.

${fields(SHOWN.options())}

## Methods

Each call throws \`ApiError\`, \`ConnectionError\`, \`TimeoutError\`, \`SignatureError\` or \`UnexpectedResponseError\`. Next to the body, an answer has \`response\` with
the status, the request id, whether it is a replay, the number of tries and \`retryAfterSeconds\`. The last argument of each call takes the [options of a call](#options-of-a-call). *Throws* names codes of an \`ApiError\`. Arguments that cannot work, such as a user id of \`..\`, throw a \`TypeError\`.

${methods(SHOWN.client())}

## Options of a call

${fields(SHOWN.call())}

## What verifyVerdict compares

${fields(SHOWN.expectations())}

## Options of stepUp

\`stepUp\` of \`countersign/client/express\`, \`/fastify\` and \`/hono\`, and \`createStepUp\` of \`countersign/client\`. The check
throws what your callbacks and the replay store throw: a failure never counts as an approval.

${fields(without(SHOWN.stepUp(), SHOWN.expectations()))}

${sharedNames(SHOWN.stepUp(), SHOWN.expectations())} are as [for \`verifyVerdict\`](#what-verifyverdict-compares); the signal aborts when the request's client goes away.
Without \`acr\`, an approval of photos passes: where money moves, ask for \`ACTIVE_ACR\`.

## Errors

All are exported by \`countersign/client\`. See [what to do about each code of a verdict](guides/step-up.md#why-a-verdict-is-refused) and [the codes of the service](errors.md).

${EXPORTS()
  .flatMap(({ exports }) => exports.filter(isError))
  .map((one, at, all) => errorEntry(one, all.slice(0, at)))
  .join('\n\n')}

## FakeCountersign

\`new FakeCountersign(options)\` of \`countersign/client/testing\` is the service in memory, for unit tests.

${fields(SHOWN.fakeOptions())}

It has ${sharedNames(SHOWN.fake(), SHOWN.fakeOptions())} (nothing listens there: only its \`fetch\` answers), and:

${fields(without(SHOWN.fake(), SHOWN.fakeOptions()), { areGiven: false })}

\`capturePage\` plays the person on the hosted capture page. Each step throws an \`Error\` where the session is unknown or not in the right state:

${fields(SHOWN.capturePage(), { areGiven: false })}

## Functions and constants

Your editor shows parameters, errors and the values of constants. \`ACTIVE_ACR\` has the \`acr\` values to accept where money moves, and \`PASSKEY_ACR\` those where a passkey signed too.

${EXPORTS()
  .map(({ module, exports }) => moduleSection(module, exports))
  .join('\n\n')}
`
}
