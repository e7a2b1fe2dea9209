/** Writes what the SDK for Python shares with the service: types of answers, claims and webhooks, and constants. */
import { ACR_VALUES, ACTIVE_ACR, PASSKEY_ACR } from '../../clients/node/acr.js'
import { UNVERIFIABLE_CODES } from '../../clients/node/unverifiable-codes.js'
import { REQUIRED_CLAIMS } from '../../clients/node/verdict.js'
import { VERDICT_REMEDIES } from '../../clients/node/verdict-remedies.js'
import { TYPED_ACTION_TYPES } from '../../src/contract/actions/typed-actions.js'
import { ERROR_CATEGORIES, ERRORS } from '../../src/contract/error-codes.js'
import { CONSTANTS, modelOf, quoted, type Record, type Type } from './sdk-model.js'
import { type Json, wrapped } from './wire-types.js'

const PYTHON_NAMES = {
  text: 'str',
  time: 'str',
  photo: 'str',
  number: 'float',
  integer: 'int',
  boolean: 'bool',
  facts: 'Mapping[str, Any]',
  opaque: 'Mapping[str, Any]',
  action: 'Mapping[str, Any]',
}
/** Values of fields that services of earlier versions leave out. */
const PYTHON_FALLBACKS: { [field: string]: string } = {
  'User.passkeys': '0',
  'CaptureSession.disowned': 'False',
  'Verification.amr': 'field(default_factory=list)',
  'ErrorDetail.path': '""',
  'ErrorDetail.issue': '""',
  'Claims.amr': '()',
}
/** Types of fields that are none of those of their schemas. */
const PYTHON_TYPES: { [field: string]: string } = {
  'Claims.action': 'Any',
  'Claims.amr': 'Tuple[str, ...]',
}
/** Claims that `Claims` always has. Every other may be missing in a token that passes the check. */
const PYTHON_CLAIMS = [...REQUIRED_CLAIMS, 'action']
/** A claim of rejections only, which are never returned. */
const PYTHON_LEFT_OUT = 'Claims.reason'
/** Bases of the classes; every other record stays the dictionary that the service sent. */
const PYTHON_CLASSES: { [name: string]: string } = {
  AuditEntry: '',
  Claims: '',
  ErrorDetail: '(Received)',
  WebhookEvent: '(Received)',
}

const inPython = (text: string) => text.replace(/\bnull\b/gi, 'None')

const pythonComment = (text: string, indent: string) =>
  wrapped(inPython(text))
    .map((line) => (text ? `${indent}#: ${line}\n` : ''))
    .join('')

/** @returns the words between brackets, on one line where they fit */
function pythonWords(words: readonly string[], brackets: '[]' | '()'): string {
  const [open, close] = brackets
  const line = quoted(words).join(', ')
  if (line.length <= 90) return `${open}${line}${close}`
  return `${open}\n${quoted(words)
    .map((word) => `    ${word},\n`)
    .join('')}${close}`
}

function pythonType(type: Type): string {
  if (type.is === 'list') return `List[${pythonType(type.of)}]`
  if (type.is === 'record') return type.name
  if (type.is === 'words') return type.name ?? `Literal${pythonWords(type.words, '[]')}`
  return PYTHON_NAMES[type.is]
}

function pythonClass({ name, fields }: Record, base: string, doc: string): string {
  const named = fields.filter((one) => `${name}.${one.name}` !== PYTHON_LEFT_OUT)
  const members = named.map((one) => {
    const fallback = PYTHON_FALLBACKS[`${name}.${one.name}`]
    const isUnchecked = name === 'Claims' && !PYTHON_CLAIMS.includes(one.name)
    const mayLack = one.isNullable || one.isOptional || isUnchecked
    const type =
      PYTHON_TYPES[`${name}.${one.name}`] ??
      (mayLack ? `Optional[${pythonType(one.type)}]` : pythonType(one.type))
    // A secret gets into no log.
    const hidden = one.name === 'signing_secret' ? 'field(repr=False)' : undefined
    const value = fallback ?? hidden ?? (mayLack ? 'None' : undefined)
    return {
      last: value !== undefined && value !== hidden,
      text: `${pythonComment(one.doc, '    ')}    ${one.name}: ${type}${value === undefined ? '' : ` = ${value}`}\n`,
    }
  })
  // Fields that have a default follow those that have none.
  const text = [...members.filter(({ last }) => !last), ...members.filter(({ last }) => last)]
  return `@dataclass(frozen=True)\nclass ${name}${base}:\n${doc}\n${text.map((one) => one.text).join('')}`
}

function pythonDictionary({ name, fields }: Record, doc: string): string {
  const part = (isOptional: boolean) =>
    fields
      .filter((one) => one.isOptional === isOptional)
      .map((one) => {
        const type = pythonType(one.type)
        return `${pythonComment(one.doc, '    ')}    ${one.name}: ${one.isNullable ? `Optional[${type}]` : type}\n`
      })
      .join('')
  const [always, sometimes] = [part(false), part(true)]
  if (!sometimes) return `class ${name}(TypedDict):\n${doc}\n${always}`
  if (!always) return `class ${name}(TypedDict, total=False):\n${doc}\n${sometimes}`
  // `NotRequired` came with Python 3.11.
  return `class _${name}(TypedDict):\n${always}\n\nclass ${name}(_${name}, total=False):\n${doc}\n${sometimes}`
}

/** @returns the text of `clients/python/countersign/wire_types.py` */
export function pythonWireTypes(document: Json): string {
  const { records, words } = modelOf(document, [])
  const lists = words.map(([name, list]) => `${name} = Literal${pythonWords(list, '[]')}\n`)
  const classes = records.map((record) => {
    const doc = `    """${wrapped(inPython(record.doc)).join('\n    ')}"""\n`
    const base = record.isAnswer ? '(Answer)' : PYTHON_CLASSES[record.name]
    return base === undefined ? pythonDictionary(record, doc) : pythonClass(record, base, doc)
  })
  return `"""Generated from docs/openapi.json and the claims by \`npm run docs\`: answers, claims and webhooks by their wire names."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, List, Literal, Mapping, Optional, Tuple, TypedDict

from .received import Answer, Received

${[lists.join('\n'), ...classes].join('\n\n')}`
}

/** @returns the text of `clients/python/countersign/constants.py` */
export function pythonConstants(): string {
  const tuple = (words: readonly string[]) => pythonWords(words, '()')
  const table = (entries: Array<[string, string | undefined]>) =>
    `{\n${entries.map(([code, text]) => `    "${code}": ${JSON.stringify(text)},\n`).join('')}}`
  const messages = Object.entries(ERRORS).map(([code, { message }]): [string, string] => [code, message])
  const parts = [
    ['ERROR_CODES: Mapping[str, str]', CONSTANTS.codes, table(messages)],
    ['ERROR_CATEGORIES', CONSTANTS.categories, tuple(ERROR_CATEGORIES)],
    ['UNVERIFIABLE_CODES', CONSTANTS.unverifiable, `frozenset(${tuple([...UNVERIFIABLE_CODES])})`],
    ['ACR_VALUES', CONSTANTS.acr, tuple(ACR_VALUES)],
    ['ACTIVE_ACR', CONSTANTS.active, tuple(ACTIVE_ACR)],
    ['PASSKEY_ACR', CONSTANTS.passkey, tuple(PASSKEY_ACR)],
    ['TYPED_ACTION_TYPES', CONSTANTS.typed, tuple(TYPED_ACTION_TYPES)],
    ['VERDICT_REMEDIES: Mapping[str, str]', CONSTANTS.remedies, table(Object.entries(VERDICT_REMEDIES))],
  ] as const
  return `"""Constants that the SDKs share with the service. Generated from the service's registries: \`npm run docs\` writes this file."""

from __future__ import annotations

from typing import Mapping

${parts.map(([name, doc, value]) => `${pythonComment(doc, '')}${name} = ${value}\n`).join('\n')}`
}
