/** Writes what the SDK for Go shares with the service: types of requests, answers, claims and webhooks, and constants. */
import { ACR_VALUES, ACTIVE_ACR, PASSKEY_ACR } from '../../clients/node/acr.js'
import { UNVERIFIABLE_CODES } from '../../clients/node/unverifiable-codes.js'
import { VERDICT_REMEDIES } from '../../clients/node/verdict-remedies.js'
import { TYPED_ACTION_TYPES } from '../../src/contract/actions/typed-actions.js'
import { ERROR_CATEGORIES, ERRORS } from '../../src/contract/error-codes.js'
import { CONSTANTS, type Field, modelOf, quoted, type Record, type Type } from './sdk-model.js'
import { type Json, wrapped } from './wire-types.js'

const GO_FILE = (source: string) =>
  `// Code generated from ${source} by npm run docs; DO NOT EDIT.\n\npackage countersign\n`
const GO_NAMES = {
  text: 'string',
  words: 'string',
  time: 'time.Time',
  photo: '[]byte',
  number: 'float64',
  integer: 'int',
  boolean: 'bool',
  facts: 'map[string]any',
  opaque: 'json.RawMessage',
  action: 'Action',
}
/** Claims whose names in the token are those of RFC 7519 and others. */
const GO_CLAIMS: { [claim: string]: string } = {
  iss: 'Issuer',
  aud: 'Audience',
  sub: 'Subject',
  iat: 'IssuedAt',
  nbf: 'NotBefore',
  exp: 'Expires',
  jti: 'ID',
  txn: 'RequestID',
  env: 'Environment',
}
const INITIALISMS = /^(id|url|jwt|fmr|acr|amr|ip|aaguid|json|api|rp)$/
/** Bodies that the client for Go takes as a whole. */
const GO_REQUESTS = [
  'EnrollRequest',
  'VerifyRequest',
  'ChallengeAnswer',
  'ChallengeRequest',
  'GuidanceRequest',
  'CaptureSessionRequest',
  'PasskeyRegistrationRequest',
  'PasskeyRegistration',
  'BatchPayee',
]
/** Types of fields that are none of those of their schemas. */
const GO_TYPES: { [field: string]: string } = {
  'AuditEntry.sequence': 'int64',
  // Nil asks for the default, an empty list for no movement.
  'CaptureSessionRequest.modes': '*[]string',
  'ChallengeRequest.modes': '*[]string',
  'Consent.agreed_at': 'string',
  'DeleteResult.erased': 'map[string]int',
  'ErrorDetail.bound': '*map[string]float64',
  'Claims.iat': '*float64',
  'Claims.nbf': '*float64',
  'Claims.exp': '*float64',
  'Claims.auth_time': '*float64',
  'Claims.action': 'json.RawMessage',
  'Claims.nonce': '*string',
  'Claims.liveness': '*Liveness',
  'Claims.replay': '*struct {\n\t\tSuspected *bool `json:"suspected"`\n\t}',
  'WebhookEvent.data': 'json.RawMessage',
  'UserErasedData.erased': 'map[string]int',
}
/** Records that a struct embeds instead of their fields: `Photos` stands in requests.go. */
const GO_EMBEDDED: { [name: string]: string } = { EnrollmentQuality: 'Quality', RegisteredPasskey: 'Passkey' }
/** Fields that methods of their own set. */
const GO_LEFT_OUT = ['EnrollRequest.add', 'EnrollRequest.dry_run']
/** Lists of words that are longer stand in docs/openapi.json. */
const MOST_WORDS = 10

const goComment = (text: string, indent: string) =>
  wrapped(text.replaceAll('`', ''))
    .map((line) => (text ? `${indent}// ${line}\n` : ''))
    .join('')

const goName = (name: string) =>
  GO_CLAIMS[name] ??
  name
    .split('_')
    .map((part) => (INITIALISMS.test(part) ? part.toUpperCase() : part[0]!.toUpperCase() + part.slice(1)))
    .join('')

function goType(type: Type): string {
  if (type.is === 'list') return `[]${goType(type.of)}`
  if (type.is !== 'record') return GO_NAMES[type.is]
  return type.name === 'QualityBound' ? 'map[string]float64' : type.name
}

/** @returns a field's type: a pointer where null or an absent field is something else than nothing */
function goFieldType({ name, isRequest }: Record, one: Field): string {
  const given = GO_TYPES[`${name}.${one.name}`]
  if (given) return given
  const type = goType(one.type)
  if (!one.isNullable && !one.isOptional) return type
  const points = ['record', 'number', 'time', ...(isRequest ? [] : ['boolean'])]
  return points.includes(one.type.is) && !type.startsWith('map') ? `*${type}` : type
}

const withoutNull = (text: string, absent: string) =>
  text.replace(/\bnull\b/g, absent).replace(/\bNull\b/g, absent[0]!.toUpperCase() + absent.slice(1))

function goDoc(one: Field, type: string): string {
  const absent = /^(\*|json|map|\[)/.test(type) ? 'nil' : type === 'int' ? 'zero' : 'empty'
  const words = one.type.is === 'list' ? one.type.of : one.type
  const isShort = words.is === 'words' && words.words.length > 1 && words.words.length <= MOST_WORDS
  const list = isShort && !words.words.every((word) => one.doc.includes(word)) ? words.words : []
  return [
    withoutNull(one.doc, absent).replace(type.endsWith('time.Time') ? / ?RFC 3339\.$/ : /$^/, ''),
    list.length > 0 ? `One of ${list.slice(0, -1).join(', ')} and ${list.at(-1)}.` : '',
  ]
    .filter(Boolean)
    .join(' ')
}

function goStruct(record: Record, all: Record[]): string {
  const { name, isAnswer } = record
  const embedded = GO_EMBEDDED[name]
  const inherited = all.find((one) => one.name === embedded)?.fields.map((one) => one.name) ?? []
  const lines: Array<{ comment: string; cells: string[] }> = isAnswer
    ? [{ comment: '', cells: ['Answer'] }]
    : []
  const left = record.fields.filter(
    (one) => !inherited.includes(one.name) && !GO_LEFT_OUT.includes(`${name}.${one.name}`),
  )
  for (const one of left) {
    if (one.name === 'image' && ['EnrollRequest', 'VerifyRequest'].includes(name)) {
      lines.push({ comment: '', cells: ['Photos'] })
      continue
    }
    const type = goFieldType(record, one)
    const isLeftOut = one.isOptional && name !== 'Claims'
    const tag = `\`json:"${one.name}${isLeftOut ? ',omitempty' : ''}"\``
    lines.push({ comment: goComment(goDoc(one, type), '\t'), cells: [goName(one.name), type, tag] })
  }
  if (embedded) lines.splice(isAnswer ? 2 : 0, 0, { comment: '', cells: [embedded] })
  if (name === 'Claims')
    lines.push({
      comment: goComment('Every claim of the token.', '\t'),
      cells: ['Raw', 'json.RawMessage', '`json:"-"`'],
    })
  const doc = /^(Answer|Body) of/.test(record.doc)
    ? `${name} is the ${record.doc[0]!.toLowerCase()}${record.doc.slice(1)}`
    : `${name}: ${withoutNull(record.doc, 'nil')}`
  return `${goComment(doc, '')}type ${name} struct {\n${aligned(lines)}}\n`
}

/** @returns the lines in columns, as gofmt writes them: a comment or a line with one cell begins new columns */
function aligned(lines: Array<{ comment: string; cells: string[] }>): string {
  const runs: Array<typeof lines> = []
  for (const line of lines)
    if (line.comment || line.cells.length === 1 || runs.at(-1)?.at(-1)?.cells.length !== line.cells.length)
      runs.push([line])
    else runs.at(-1)!.push(line)
  return runs
    .flatMap((run) =>
      run.map(({ comment, cells }) => {
        const widths = cells.map((_, column) => Math.max(...run.map((one) => one.cells[column]!.length)))
        return `${comment}\t${cells
          .map((cell, column) => cell.padEnd(widths[column]!))
          .join(' ')
          .trimEnd()}\n`
      }),
    )
    .join('')
}

/** @returns the text of `clients/go/wire_types.go` */
export function goWireTypes(document: Json): string {
  const { records } = modelOf(document, GO_REQUESTS)
  const left = records.filter(({ name }) => !['QualityBound', 'ErasedCounts'].includes(name))
  const imports = 'import (\n\t"encoding/json"\n\t"time"\n)\n'
  return [
    GO_FILE('docs/openapi.json and the claims'),
    imports,
    ...left.map((one) => goStruct(one, records)),
  ].join('\n')
}

/** @returns the text of `clients/go/constants.go` */
export function goConstants(): string {
  const list = (words: readonly string[]) =>
    `[]string{\n${quoted(words)
      .map((word) => `\t${word},\n`)
      .join('')}}`
  const codes = Object.entries(ERRORS).map(
    ([code, { message }]) => `${goComment(message, '\t')}\tCode${goName(code)} = "${code}"\n`,
  )
  const categories = ERROR_CATEGORIES.map((one) => ({
    comment: '',
    cells: [`Category${goName(one)}`, `= "${one}"`],
  }))
  const variables = [
    ['unverifiableCodes', CONSTANTS.unverifiable, [...UNVERIFIABLE_CODES]],
    ['ACRValues', CONSTANTS.acr, ACR_VALUES],
    ['ActiveACR', CONSTANTS.active, ACTIVE_ACR],
    ['PasskeyACR', CONSTANTS.passkey, PASSKEY_ACR],
    ['typedActionTypes', CONSTANTS.typed, TYPED_ACTION_TYPES],
  ] as const
  const cases = Object.entries(VERDICT_REMEDIES).map(
    ([code, text]) => `\tcase "${code}":\n\t\treturn ${JSON.stringify(text)}\n`,
  )
  return [
    GO_FILE("the service's registries"),
    `// Codes of an APIError, each with the message that says what is wrong.\nconst (\n${codes.join('')})\n`,
    `// Categories of an APIError, which decide what an application does about it.\nconst (\n${aligned(categories)})\n`,
    ...variables.map(
      ([name, doc, words]) => `${goComment(`${name}: ${doc}`, '')}var ${name} = ${list(words)}\n`,
    ),
    `${goComment(`verdictRemedy: ${CONSTANTS.remedies}`, '')}func verdictRemedy(codeOrReason string) string {\n\tswitch codeOrReason {\n${cases.join('')}\t}\n\treturn ""\n}\n`,
  ].join('\n')
}
