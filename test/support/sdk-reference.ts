/** Makes docs/sdk.md from the declarations that the SDK is published with: signatures and comments are those that an editor shows. */
import { readFileSync } from 'node:fs'
import { markdownTable } from '../../src/lib/markdown-table.js'
import { packageFile } from '../../src/lib/package-root.js'

export interface Member {
  name: string
  /** The declaration on one line. */
  declaration: string
  /** The comment without tags. */
  description: string
}

/** The public members of an interface or a class. @param file without `.d.ts` @throws Error where there is no such type */
export function membersOf(file: string, type: string): Member[] {
  const declarations = readFileSync(packageFile('dist', 'src', 'client', `${file}.d.ts`), 'utf8')
  const body = new RegExp(
    `^export (?:declare class|interface) ${type}\\b[^\\n]*\\{\\n([\\s\\S]*?)^\\}`,
    'm',
  ).exec(declarations)?.[1]
  if (body === undefined) throw new Error(`${file}.d.ts declares no ${type}; build first: npm run build`)
  const members: Member[] = []
  // A comment, and a declaration that ends with a semicolon at the indentation of members.
  for (const [, comment, declared] of body.matchAll(
    /^ {4}(?:\/\*\*([\s\S]*?)\*\/\n {4})?(\S[\s\S]*?;)$(?=\n {4}[^\s}]|\n$|$(?![\s\S]))/gm,
  )) {
    const declaration = declared!.replace(/\s+/g, ' ').replace(/;$/, '')
    const name = /^(?:readonly |get )?([\w$]+)/.exec(declaration)?.[1]
    if (!name || name === 'constructor' || /^(#|private )/.test(declaration)) continue
    const description = (comment ?? '')
      .replace(/^\s*\* ?/gm, '')
      .replace(/\s+/g, ' ')
      .replace(/@(?:param|throws|returns|example)[\s\S]*/, (tags) => errorsOf(tags))
      .trim()
    // Overloads share a comment.
    members.push({ name, declaration, description: description || lastOf(members, name) })
  }
  return members
}

function errorsOf(tags: string): string {
  const thrown = [...tags.matchAll(/@throws ([^@]+)/g)].map(([, text]) => text!.trim().replace(/\.$/, ''))
  return thrown.length > 0 ? ` Throws ${thrown.join('; ')}.` : ''
}

function lastOf(members: Member[], name: string): string {
  return members.find((member) => member.name === name)?.description ?? ''
}

/** Type of a member of an interface. */
function typeOf({ declaration, name }: Member): string {
  const rest = declaration.replace(/^(readonly|get) /, '').slice(name.length)
  return rest
    .replace(/^\(\): /, '')
    .replace(/^\??: /, '')
    .replace(/^ = /, '')
}

const isOptional = ({ declaration, name }: Member) =>
  declaration.replace(/^readonly /, '').startsWith(`${name}?`)

/** @param areGiven the reader gives them, and some can be left out */
function fields(members: Member[], { areGiven = true } = {}): string {
  return markdownTable(
    ['Name', 'Type', 'What it is'],
    members.map((member) => [
      `\`${member.name}\`${areGiven && !isOptional(member) ? ', required' : ''}`,
      `\`${typeOf(member)}\``,
      member.description,
    ]),
  )
}

function methods(members: Member[]): string {
  const names = [...new Set(members.map(({ name }) => name))]
  return names
    .map((name) => {
      const all = members.filter((member) => member.name === name)
      const code = ['```ts', ...all.map(({ declaration }) => declaration), '```'].join('\n')
      return [`### ${name}`, '', all[0]!.description, '', code].join('\n')
    })
    .join('\n\n')
}

const isMethod = ({ declaration }: Member) => /^\w+[<(]/.test(declaration)

/** Members that the page shows, and that the tests check for comments. */
export const SHOWN = {
  options: () => [...membersOf('client-options', 'CountersignOptions'), ...membersOf('observer', 'Hooks')],
  client: () => membersOf('countersign', 'Countersign').filter(isMethod),
  call: () => membersOf('client-options', 'CallOptions'),
  expectations: () => membersOf('verdict', 'VerdictExpectations'),
  stepUp: () => membersOf('step-up', 'StepUpOptions'),
  fakeOptions: () => membersOf('testing/fake-countersign', 'FakeOptions'),
  fake: () => membersOf('testing/fake-countersign', 'FakeCountersign'),
  capturePage: () => membersOf('testing/fake-capture-page', 'FakeCapturePage'),
}

/** docs/sdk.md */
export function sdkPage(): string {
  return `# The SDK for TypeScript and JavaScript

Methods and options of \`countersign/client\` ([the package](guides/quick-start.md#the-package)). This page is made from the declarations that
editors show. Requests and answers have the names of the [API](openapi.json). [Step-up on a route](guides/step-up.md) shows the SDK at work, and
says [what each error means](guides/step-up.md#why-a-verdict-is-refused).

## Options of the client

\`new Countersign(options)\` throws a \`TypeError\` for options that cannot work.

${fields(SHOWN.options())}

## Methods

Each call throws \`ApiError\`, \`ConnectionError\`, \`TimeoutError\`, \`SignatureError\` or \`UnexpectedResponseError\`. An answer has, beside the body, \`response\` with
the status, the request id, whether it is a replay, the number of tries and \`retryAfterSeconds\`.

${methods(SHOWN.client())}

## Options of a call

${fields(SHOWN.call())}

## What verifyVerdict compares

${fields(SHOWN.expectations())}

## Options of stepUp

\`stepUp\` of \`countersign/client/express\`, \`/fastify\` and \`/hono\`, and \`createStepUp\` of \`countersign/client\`.

${fields(SHOWN.stepUp())}

## FakeCountersign

\`new FakeCountersign(options)\` of \`countersign/client/testing\`.

${fields(SHOWN.fakeOptions())}

${fields(SHOWN.fake(), { areGiven: false })}

\`capturePage\` plays the person on the hosted capture page:

${methods(SHOWN.capturePage())}
`
}
