/** The API's requests and answers as the SDKs for Python and Go write them, and the sentences about the constants of both. */
import { claimsSchema, descriptionOf, type Json, shapeOf, typesOf, webhookSchemas } from './wire-types.js'

export type Type =
  | { is: 'text' | 'time' | 'photo' | 'number' | 'integer' | 'boolean' | 'facts' | 'opaque' | 'action' }
  | { is: 'words'; words: string[]; name?: string }
  | { is: 'list'; of: Type }
  | { is: 'record'; name: string }

export interface Field {
  name: string
  type: Type
  isNullable: boolean
  isOptional: boolean
  doc: string
}

export interface Record {
  name: string
  doc: string
  isAnswer: boolean
  isRequest: boolean
  fields: Field[]
}

/** Types whose names differ from those of TypeScript, where some are made of parts. */
const RENAMED: { [name: string]: string } = {
  VerifyFacts: 'VerifyResult',
  CaptureSessionFacts: 'CaptureSession',
  EnrollFields: 'EnrollRequest',
  VerifyFields: 'VerifyRequest',
  ChallengeFields: 'ChallengeRequest',
  CaptureSessionFields: 'CaptureSessionRequest',
  PasskeyRegistrationChallenge: 'PasskeyChallenge',
  DocumentedErrorDetail: 'ErrorDetail',
  ClaimFacts: 'Claims',
  WebhookFacts: 'WebhookEvent',
}
const DOCS: { [name: string]: string } = {
  Claims: 'The claims of a verdict JWT. Times are in unix seconds.',
  PasskeyChallenge: 'Options with which a browser makes a passkey, or lets one sign.',
  'PasskeyChallenge.options':
    'For `PublicKeyCredential.parseCreationOptionsFromJSON` or `parseRequestOptionsFromJSON`. Pass them on unchanged.',
}
/** Values that go from the service to the browser, or back, as they are. */
const OPAQUE = /^(options|credential|checks|body)$|^Passkey(Creation|Request)Options$/

interface Part {
  name: string
  schema: Json
  doc?: string
}

const pascal = (words: string) =>
  words.replace(
    /(?:^|[._])(openid)?(\w?)/g,
    (_, openId, letter) => `${openId ? 'OpenID' : ''}${letter.toUpperCase()}`,
  )

/** The data of each event of a webhook. */
const webhookData = (document: Json): Part[] =>
  webhookSchemas(document).data.map(([type, schema]) => ({ name: `${pascal(type)}Data`, schema }))

/** Objects inside of others that TypeScript writes where they stand. */
function partsOf(document: Json): Part[] {
  const { schemas } = document.components
  const fields = (name: string) => schemas[name].properties
  const events = Object.fromEntries(webhookSchemas(document).data)
  return [
    { name: 'Replay', schema: fields('VerifyResult').replay },
    { name: 'UserReference', schema: fields('User').reference, doc: 'The reference of a user.' },
    { name: 'UserLockout', schema: fields('User').lockout, doc: 'The lockout of a user.' },
    { name: 'ErasedCounts', schema: fields('DeleteResult').erased, doc: 'Numbers of what was erased.' },
    { name: 'ChallengeCapture', schema: fields('Challenge').capture },
    { name: 'ChallengeDisplayLine', schema: schemas.ChallengeDisplayLine },
    { name: 'ChallengeDisplay', schema: schemas.ChallengeDisplay },
    {
      name: 'Frame',
      schema: fields('ChallengeAnswer').frames.items,
      doc: 'One picture of a challenge.',
    },
    { name: 'PasskeyCredential', schema: schemas.EnrolledPasskey },
    {
      name: 'CaptureResult',
      schema: fields('CaptureSession').result.anyOf[0],
      doc: 'The answer to the last capture of a session. Only its checked JWT stands for an approval.',
    },
    { name: 'SessionBegan', schema: schemas.CaptureSessionBegan },
    {
      name: 'NewSigningSecret',
      schema: fields('RotateSigningResult').signing_secret,
      doc: 'A signing secret that was made. Store it before anything else: it is shown once.',
    },
    {
      name: 'PreviousSigningSecret',
      schema: fields('RotateSigningResult').previous,
      doc: 'The signing secret that was replaced.',
    },
    { name: 'CaptureOutcome', schema: events['capture_session.completed'].properties.result.anyOf[0] },
  ]
}

/** The records that are reached from answers, errors, claims, webhooks and `requests`, and the lists of words in them, in the order of the file. */
export function modelOf(document: Json, requests: string[]) {
  const { components, paths } = document
  const resolved = (schema: Json): Json =>
    schema.$ref ? resolved(components.schemas[schema.$ref.split('/').at(-1)]) : schema
  const known = [
    ...typesOf(document).map((one) => ({ ...one, name: RENAMED[one.name] ?? one.name })),
    ...partsOf(document),
  ].filter(({ name }) => !['PasskeyAssertionChallenge', 'DocumentedError', 'WebhookData'].includes(name))
  const byShape = new Map(known.map(({ name, schema }) => [shapeOf(schema), name]))
  // The claim has some fields of the answer's.
  byShape.set(shapeOf(claimsSchema(components.schemas).properties.liveness), 'Liveness')
  const data = webhookData(document)
  const named = [...known, ...data]
  const typeOf = (given: Json, field: string): Type => {
    const schema = resolved(given)
    const name = byShape.get(shapeOf(schema))
    if (field === 'action') return { is: 'action' }
    if (OPAQUE.test(field) || OPAQUE.test(name ?? '')) return { is: 'opaque' }
    if (schema.enum) return { is: 'words', words: schema.enum, ...(name && { name }) }
    if (name) return { is: 'record', name }
    if (schema.anyOf) return typeOf(schema.anyOf[0], field)
    if (schema.type === 'array') return { is: 'list', of: typeOf(schema.items, '') }
    if (schema.type === 'object' && !schema.properties) return { is: 'facts' }
    if (schema.contentEncoding === 'base64') return { is: 'photo' }
    if (schema.format === 'date-time') return { is: 'time' }
    if (schema.type === 'string') return { is: 'text' }
    if (['number', 'integer', 'boolean'].includes(schema.type)) return { is: schema.type }
    throw new Error(`${field} has a schema that has no type: ${JSON.stringify(schema)}`)
  }
  const answers = new Set(
    Object.values<Json>(paths)
      .flatMap((operations) => Object.values<Json>(operations))
      .flatMap(({ responses }) => [responses[200], responses[201]])
      .map((answer) => shapeOf(resolved(answer?.content?.['application/json']?.schema ?? {}))),
  )
  const records = new Map<string, Record>()
  const words = new Map<string, string[]>()
  const reach = (type: Type) => {
    if (type.is === 'list') reach(type.of)
    if (type.is === 'words' && type.name) words.set(type.name, type.words)
    if (type.is === 'record' && !records.has(type.name)) add(type.name)
  }
  const add = (name: string) => {
    const { schema, doc } = named.find((one) => one.name === name)!
    const fields = Object.entries<Json>(schema.properties)
      .filter(([, one]) => one.type !== 'null')
      .map(([field, one]) => ({
        name: field,
        type: typeOf(one, field),
        isNullable: one.anyOf?.at(-1).type === 'null',
        isOptional: !(schema.required ?? []).includes(field),
        doc: DOCS[`${name}.${field}`] ?? descriptionOf(one, components.schemas),
      }))
    const isAnswer = answers.has(shapeOf(schema))
    const whole = (DOCS[name] ?? doc ?? schema.description).replace(/, without the \w+\.$/, '.')
    const isRequest = schema.additionalProperties === false
    records.set(name, { name, doc: whole, isAnswer, isRequest, fields })
    for (const { type } of fields) reach(type)
  }
  const wanted = ['ErrorDetail', 'Claims', 'WebhookEvent', ...data.map(({ name }) => name), ...requests]
  for (const { name, schema } of named) if (answers.has(shapeOf(schema)) || wanted.includes(name)) add(name)
  const inOrder = <Value>(map: Map<string, Value>) =>
    named.flatMap(({ name }) => (map.has(name) ? [[name, map.get(name)!] as const] : []))
  return { records: inOrder(records).map(([, record]) => record), words: inOrder(words) }
}

export const quoted = (words: readonly string[]) => words.map((word) => JSON.stringify(word))

/** Describes the constants that every SDK has. */
export const CONSTANTS = {
  codes:
    'Every code that an error of this version of the service can have, and the message that says what is wrong.',
  categories: 'The kind of an error, which decides what an application does about it.',
  unverifiable:
    'Codes of errors that come before the service knows whose request it is, so that no secret of a tenant signs them. None says anything about a user.',
  acr: 'Every `acr` of an approval, which says what was checked of the capture besides whose face it shows: first those in which a passkey signed, with a key in hardware (hwk) or in software (swk); within each group from the strongest check of liveness to the weakest.',
  active: 'For an action with a high risk: the person turned and nodded the head as a challenge asked.',
  passkey:
    'For two factors: the person turned and nodded the head, and a passkey of theirs signed for the action.',
  typed: 'Types of actions that have a published schema, whose text the hosted page shows.',
  remedies:
    'The next step for a verdict that is refused, by the code of the error; for a rejection by its reason.',
}
