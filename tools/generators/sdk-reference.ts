/** Makes docs/sdk.md from the declarations that the SDK is published with: signatures and comments are those that an editor shows. */
import { markdownTable } from '../../src/lib/markdown-table.js'
import { type Export, exportsOf, hiddenBase, type Member, membersOf } from './sdk-declarations.js'

/** Meanings of fields that have no comment, since their names say enough to an editor. */
const MEANINGS: Record<string, string> = {
  action: 'The action as it was sent.',
  body: 'The parsed body.',
  bound: 'Range of good values; null where every value will do.',
  brightness: 'Mean grey level of the aligned face, 0 to 255.',
  challenge_id: 'Id of the challenge, `chl_…`.',
  checks: 'State of each part.',
  code: 'Stable code of the error.',
  component: 'What was measured.',
  components: 'Each measurement.',
  consent: 'The consent as it was recorded; null without one.',
  consume: 'Marks a verdict as used; false when it was used before.',
  contrast: 'Standard deviation of the grey level of the aligned face.',
  debug: 'Logs what helps while an application is made.',
  details: 'What is wrong with which field.',
  env: 'Environment that signed.',
  environment: 'Environment that answers.',
  erased: 'Number of records of each kind that were erased.',
  erasure_id: 'Id of the erasure, for your records.',
  error: 'Kind of the error.',
  face_width_px: 'Width of the face between its outer edges, in pixels.',
  fmr_basis: 'Whether the rate was measured.',
  headers: 'Headers as they were sent.',
  hint: 'Advice to show to the person, in English.',
  id: 'Id, as it was issued.',
  issues: 'What failed, photo by photo.',
  jwt: 'The verdict; during a rotation under the outgoing secret.',
  jwt_next: 'The same claims under the new secret, during a rotation.',
  lockout: 'Whether and until when the user is locked out.',
  jwt_public: 'The same claims under a key of the issuer (ES256).',
  max: 'Greatest good value.',
  message: 'A sentence for developers.',
  method: 'HTTP method of the request.',
  min: 'Least good value.',
  model: 'Model pack.',
  model_grade: 'Grade of the model pack at this false match rate.',
  name: 'Name of the class.',
  nonce: 'Nonce that binds the call, unchanged.',
  overlap_seconds: 'Time for which both secrets sign, in seconds.',
  passed: 'Whether the value keeps to its bound.',
  path: 'The field, such as `images.0`.',
  previous: 'The outgoing secret.',
  purpose: 'What the capture is for.',
  quality: 'Quality of the photo that was compared; null where none was.',
  reason: 'Why the capture was rejected; null or absent in an approval.',
  reference: 'The biometric reference, without the biometric data.',
  reference_id: 'Id of the reference, `ref_…`.',
  replay: 'Whether the capture was seen before for this user within 24 hours.',
  score: 'Similarity of the faces; higher is more alike. Null where they were not compared.',
  session_id: 'Id of the session, `cap_…`.',
  sharpness: 'Variance of the Laplacian of the aligned face.',
  signing_secret: 'The new secret, shown only here.',
  status: 'State that the call has reached; in an answer of HTTP, its status.',
  step: 'Step of the challenge that is shown.',
  text: 'The text that the person agrees to.',
  user_id: 'Your id of the user.',
  value: 'What was measured.',
  verdict: 'Distinguishes an approval from a rejection.',
  verifyVerdict: 'Checks a verdict, and marks it as used.',
  version: 'Version of the service, or of a text.',
  warn: 'Logs what an operator should look at.',
}

/** Type of a member of an interface. */
function typeOf({ declaration, name }: Member): string {
  const rest = declaration.replace(/^(?:abstract )?(?:(?:readonly|get) )?/, '').slice(name.length)
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
      member.description || (MEANINGS[member.name] ?? ''),
    ]),
  )
}

function methods(members: Member[]): string {
  const names = [...new Set(members.map(({ name }) => name))]
  return names
    .map((name) => {
      const all = members.filter((member) => member.name === name)
      const code = ['```ts', ...all.map(({ declaration }) => declaration), '```'].join('\n')
      return [`### ${name}`, '', all[0]!.description, '', code, ...exampleOf(all[0]!)].join('\n')
    })
    .join('\n\n')
}

const exampleOf = ({ example }: { example: string }) =>
  example ? ['', 'Example:', '', '```ts', example, '```'] : []

/** Type of a field, method signature or constant on one line. */
const codeOf = (text: string) => ['```ts', shortened(text.replace(/^export (declare )?/, '')), '```']

const MOST_ITEMS = 20
/** A list of very many values ends after the first three: the page of errors has all. */
const shortened = (text: string) => {
  const items = /(?<=readonly \[)[^\]]*/.exec(text)?.[0].split(', ') ?? []
  return items.length > MOST_ITEMS
    ? text.replace(/(?<=readonly \[)[^\]]*/, `${items.slice(0, 3).join(', ')}, …`)
    : text
}

/** The name behind `extends` in the first line of a declaration; undefined for a list of names, or none. */
const baseOf = (text: string) =>
  / extends (\w+)(?:<[^{]*>)?(?: implements \w+)? \{/.exec(text.split('\n')[0]!)?.[1]

/** Fields of a class or an interface, those of a base that is not exported included; a type has none. */
function fieldsOf({ kind, file, name, text }: Export): { base: string | undefined; members: Member[] } {
  if (kind !== 'class' && kind !== 'interface') return { base: undefined, members: [] }
  const own = membersOf(file, name)
  const base = baseOf(text)
  const hidden = base === undefined ? undefined : hiddenBase(file, base)
  if (!hidden) return { base, members: own }
  const more = membersOf(file, base!).filter((one) => own.every((other) => other.name !== one.name))
  return { base: baseOf(hidden), members: [...own, ...more] }
}

/** A section about an exported name: its comment, its fields or its declaration, its example. */
function entry(one: Export, heading = one.name): string {
  const { base, members } = fieldsOf(one)
  const body =
    members.length > 0
      ? [
          ...(base ? [`It has what \`${base}\` has, and:`, ''] : []),
          fields(members, { areGiven: one.kind === 'interface' }),
        ]
      : codeOf(one.text)
  return [`### ${heading}`, '', one.description, '', ...body, ...exampleOf(one)].join('\n')
}

const isError = ({ kind, name }: Export) => kind === 'class' && name.endsWith('Error')

/** The modules of the SDK: what an application imports from, and the declaration file of each. */
const MODULES = {
  'countersign/client': 'clients/node/index',
  'countersign/client/express': 'clients/node/express',
  'countersign/client/fastify': 'clients/node/fastify',
  'countersign/client/hono': 'clients/node/hono',
  'countersign/client/testing': 'clients/node/testing',
}

/** Names that have a section of their own above the lists, and its heading. */
export const ELSEWHERE: Record<string, string> = {
  Countersign: 'Methods',
  CountersignOptions: 'Options of the client',
  Hooks: 'Options of the client',
  CallOptions: 'Options of a call',
  VerdictExpectations: 'What verifyVerdict compares',
  StepUpOptions: 'Options of stepUp',
  FakeCountersign: 'FakeCountersign',
  FakeOptions: 'FakeCountersign',
  FakeCapturePage: 'FakeCountersign',
}

/** Everything that the modules export, by module. */
export const EXPORTS = () =>
  Object.entries(MODULES).map(([module, file]) => ({ module, exports: exportsOf(file) }))

function listed(
  holds: (one: Export) => boolean,
  headingOf?: (one: Export, module: string) => string,
): string {
  return EXPORTS()
    .flatMap(({ module, exports }) =>
      exports
        .filter((one) => !(one.name in ELSEWHERE) && holds(one))
        .map((one) => entry(one, headingOf?.(one, module))),
    )
    .join('\n\n')
}

const isMethod = ({ declaration }: Member) => /^\w+[<(]/.test(declaration)

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

Methods and options of \`countersign/client\` ([the package](guides/quick-start.md#the-package)). This page is made from the declarations that
editors show. Requests and answers have the names of the [API](openapi.json). [Step-up on a route](guides/step-up.md) shows the SDK at work, and
says [what each error means](guides/step-up.md#why-a-verdict-is-refused).

## Options of the client

\`new Countersign(options)\` throws a \`TypeError\` for options that cannot work.

${fields(SHOWN.options())}

## Methods

Each call throws \`ApiError\`, \`ConnectionError\`, \`TimeoutError\`, \`SignatureError\` or \`UnexpectedResponseError\`. An answer has, next to the body, \`response\` with
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

## Functions

The heading names the module.

${listed(
  ({ kind }) => kind === 'function',
  ({ name }, module) => `${name} of ${module}`,
)}

## Errors

All are exported by \`countersign/client\`. [What to do about each code of a verdict](guides/step-up.md#why-a-verdict-is-refused), and [the codes of the service](errors.md).

${listed(isError)}

## Constants and stores

${listed((one) => one.kind === 'const' || (one.kind === 'class' && !isError(one)))}

## Types

Requests and answers are those of the [API](openapi.json); a field with \`, required\` is always there. [The verdict](verdict.md#claims) explains the claims.

${listed(({ kind }) => kind === 'interface' || kind === 'type')}
`
}
