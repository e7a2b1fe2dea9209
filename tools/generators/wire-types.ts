/** Writes the SDK's types of requests, answers, claims and webhooks, `src/contract/wire-types.ts`, from the OpenAPI document and the claims. */
import { spawnSync } from 'node:child_process'
import { packageFile } from '../../src/lib/package-root.js'
import { ALL_CLAIMS } from './verdict-page.js'

// biome-ignore lint/suspicious/noExplicitAny: a JSON document, looked into freely
export type Json = any

interface WireType {
  name: string
  schema: Json
  /** Replaces the description of the schema. */
  doc?: string
  /** Fields that `clients/node/types.ts` adds by hand, because the SDK types them more exactly. */
  without?: string[]
  /** Type parameters: `Image` stands for photos, `A` for the action. */
  parameters?: string
}

const ACTION = '<A extends ActionLike = Action>'
const IMAGE = '<Image = ImageInput>'

/** @returns the schema of all claims */
export function claimsSchema({ VerifyResult, DisplayedText }: Json): Json {
  const inDisplay = Object.entries(DisplayedText.properties).map(([name, one]) => [`display_${name}`, one])
  const members: Json = { ...VerifyResult.properties, ...Object.fromEntries(inDisplay) }
  const schemaOf = (name: string) => {
    const { isOptional: _, ...claim } = ALL_CLAIMS[name]!
    const { anyOf: [inner] = [], ...member } = members[name] ?? {}
    return 'type' in claim ? claim : { ...(inner ?? member), ...claim }
  }
  const names = Object.keys(ALL_CLAIMS)
  return {
    type: 'object',
    properties: Object.fromEntries(names.map((name) => [name, schemaOf(name)])),
    required: names.filter((name) => !ALL_CLAIMS[name]!.isOptional),
  }
}

/** @returns the schema of any webhook, and that of the data of each event */
export function webhookSchemas({ webhooks }: Json): {
  event: Json
  data: Array<[type: string, schema: Json]>
} {
  const bodyOf = (webhook: Json) => webhook.post.requestBody.content['application/json'].schema
  const [first] = Object.values(webhooks)
  const { properties, ...event } = bodyOf(first)
  const type = {
    type: 'string',
    description: 'The event, such as `user.enrolled`. Later versions of the service may send others.',
  }
  return {
    event: { ...event, properties: { ...properties, type, data: { type: 'object' } } },
    data: Object.entries<Json>(webhooks).map(([name, webhook]) => [
      name,
      { ...bodyOf(webhook).properties.data, description: `${webhook.post.summary}.` },
    ]),
  }
}

/** A type of the list: with a schema of its own, or that of its name. */
interface Listed extends Partial<Omit<WireType, 'name'>> {
  /** Further words about the body, after those of the endpoint. */
  further?: string
}

/** The types of the file, in its order. A schema that equals one of them is written as its name wherever it occurs. */
export function typesOf(document: Json): WireType[] {
  const { schemas } = document.components
  const bodies = bodiesOf(document)
  const listed = Object.entries(namedTypes(document)).map(([name, { further, ...own }]): WireType => {
    const doc = bodies.get(name)
    return {
      name,
      schema: schemas[name],
      ...(doc && { doc: further ? `${doc.replace(/\.$/, ':')} ${further}.` : doc }),
      ...own,
    }
  })
  const known = new Set(listed.map(({ schema }) => shapeOf(schema)))
  // Bodies of endpoints that have no type yet. One of several alternatives has a type of its own.
  const more = [...bodies].flatMap(([name, doc]) => {
    const schema = schemas[name]
    if (!schema.properties || known.has(shapeOf(schema))) return []
    known.add(shapeOf(schema))
    return [{ name, schema, doc }]
  })
  return [...listed, ...more]
}

/** The names of the schemas that endpoints take or give, and of which. */
function bodiesOf({ paths }: Json): Map<string, string> {
  const bodies = new Map<string, string>()
  for (const [path, operations] of Object.entries<Json>(paths))
    for (const [method, { requestBody, responses, security }] of Object.entries<Json>(operations)) {
      // Documents that need no API key are for verifiers, which read them by their standards' names.
      if (security?.length === 0) continue
      const note = (body: Json, role: string) => {
        const name = body?.content?.['application/json']?.schema?.$ref?.split('/').at(-1)
        if (name && !bodies.has(name)) bodies.set(name, `${role} of \`${method.toUpperCase()} ${path}\`.`)
      }
      note(requestBody, 'Body')
      note(responses[200], 'Answer')
      note(responses[201], 'Answer')
    }
  return bodies
}

/** The types by their names, in the order of the file. Words that are not given are those of the endpoint that takes or gives it, or of the schema. */
function namedTypes(document: Json): Record<string, Listed> {
  const { schemas } = document.components
  const webhooks = webhookSchemas(document)
  const fields = (name: string) => schemas[name].properties
  const detail = fields('Error').details.items
  return {
    Environment: { schema: fields('HealthResult').environment, doc: 'Environment of an API key.' },
    Scope: {
      schema: detail.properties.scope,
      doc: 'A kind of call that an API key may make. A key without scopes may make every call.',
    },
    HealthStatus: {
      schema: fields('HealthResult').status,
      doc: 'State of the service or of a part of it.',
    },
    ModelGrade: {
      schema: fields('VerifyResult').model_grade,
      doc: 'Grade of a model pack: `production` where its error rate was measured on everybody and in each group of people; `ungrouped` where the data name no groups; else `evaluation`.',
    },
    FmrBasis: {
      schema: fields('VerifyResult').fmr_basis,
      doc: 'Basis of a false match rate: `extrapolated` where nobody has measured it and the operator accepted that.',
    },
    RejectionReason: {
      schema: fields('VerifyResult').reason.anyOf[0],
      doc: 'The reason for which verify rejects a capture.',
    },
    LivenessRequirement: {
      schema: fields('VerifyRequestWithImage').require_liveness,
      doc: 'The checks of liveness that a capture must have passed.',
    },
    FrameGuidance: {
      schema: fields('Guidance').guidance.items,
      doc: 'Advice to a person about one frame.',
    },
    LivenessGuidance: {
      schema: fields('Liveness').guidance.items,
      doc: 'Advice to a person about the frames of a challenge.',
    },
    PhotoGuidance: {
      schema: detail.properties.guidance,
      doc: 'Advice to a person about a photo that was refused: a code that `<countersign-capture>` has texts for.',
    },
    LivenessFinding: {
      schema: fields('Liveness').findings.items,
      doc: 'A suspicion about the frames of a challenge: for the backend, never for the person.',
    },
    QualityComponent: {
      schema: fields('QualityFinding').component,
      doc: 'A measurement of light, focus, pose or eyes, as ISO/IEC 29794-5 names it.',
    },
    QualityBound: {},
    QualityIssue: {},
    QualityFinding: {},
    ImageQuality: {},
    Quality: {},
    EnrollmentQuality: {},
    Liveness: {},
    ChallengeStep: {
      schema: fields('Challenge').steps.items,
      doc: 'A pose that a challenge asks for. `left` and `right` are the person’s own.',
    },
    ClientSignal: {
      schema: schemas.CaptureReport.properties.signals.items,
      doc: 'A signal about a capture that the browser reports.',
    },
    CaptureReport: {},
    CaptureSignal: {},
    CaptureIntegrity: {
      schema: schemas.CaptureIntegrity,
      doc: 'Signs that pictures may not come from a camera of the device: hints, never proof. They change no verdict.',
    },
    ChallengeAnswer: { parameters: IMAGE },
    PasskeyDescriptor: {},
    PasskeyCreationOptions: {},
    PasskeyRequestOptions: {},
    PasskeyRegistrationResponse: {},
    PasskeyAuthenticationResponse: {},
    PasskeyAssertion: {},
    Passkey: {},
    PasskeyRegistrationRequest: {},
    PasskeyRegistrationChallenge: { further: 'what the browser is asked for' },
    PasskeyRegistration: { further: 'what the browser answered' },
    RegisteredPasskey: {},
    PasskeyList: {},
    RevokedPasskey: {},
    CancelledPasskeyRecovery: {},
    PasskeyAssertionRequest: { parameters: ACTION },
    PasskeyAssertionChallenge: { further: 'what the browser is asked for' },
    ProvenPasskey: {},
    ChallengeFields: {
      schema: schemas.ChallengeRequest,
      doc: 'Body of `POST /v1/challenges`.',
      parameters: ACTION,
    },
    Challenge: {},
    GuidanceRequest: { further: 'a small frame of a person before the camera', parameters: IMAGE },
    Guidance: {},
    Consent: {},
    RecordConsentRequest: {},
    RecordedConsent: { further: 'the consent that is recorded now' },
    EnrollFields: {
      schema: schemas.EnrollRequestWithImage,
      doc: 'Body of `POST /v1/enroll`, without the photos.',
      without: ['image'],
    },
    EnrollResult: {},
    AssessResult: {
      schema: schemas.AssessResult,
      doc: 'Answer of `POST /v1/enroll` with `dry_run`: the quality of the photos. Nothing is stored.',
    },
    VerifyFields: {
      schema: schemas.VerifyRequestWithImage,
      doc: 'Body of `POST /v1/verify`, without the photos.',
      without: ['image'],
      parameters: ACTION,
    },
    VerifyFacts: {
      schema: schemas.VerifyResult,
      doc: 'Answer of `POST /v1/verify`, without the verdict.',
      without: ['verdict', 'reason', 'score'],
    },
    Verification: {
      further: 'the verdict of an earlier verification. It proves and approves nothing',
    },
    DeleteRequest: {},
    DeleteResult: { further: 'the receipt of an erasure' },
    User: { further: 'an enrolled user' },
    AuditEntry: { schema: schemas.AuditEntry, doc: 'One entry of the audit log.' },
    AuditPage: { further: 'a page of the audit log' },
    HealthResult: {},
    RotateSigningRequest: {},
    RotateSigningResult: {},
    ConsentText: {},
    BatchPayee: {},
    DisplayedText: {},
    CaptureSessionFields: {
      schema: schemas.CaptureSessionRequest,
      doc: 'Body of `POST /v1/capture-sessions`.',
      parameters: ACTION,
    },
    CaptureSessionLink: { further: 'the link for the person' },
    CaptureSessionStatus: {
      schema: fields('CaptureSession').status,
      doc: fields('CaptureSession').status.description,
    },
    CaptureSessionFacts: {
      schema: schemas.CaptureSession,
      doc: 'Answer of `GET /v1/capture-sessions/{session_id}`, without the result.',
      without: ['result'],
    },
    ClaimFacts: {
      schema: claimsSchema(schemas),
      doc: 'Claims of a verdict JWT, without the verdict.',
      without: ['verdict', 'reason', 'score'],
      parameters: ACTION,
    },
    WebhookFacts: {
      schema: webhooks.event,
      doc: 'Body of a webhook, without the event.',
      without: ['type', 'data'],
    },
    WebhookData: {
      schema: {
        properties: Object.fromEntries(webhooks.data),
        required: webhooks.data.map(([type]) => type),
      },
      doc: 'Data of each event of a webhook.',
    },
    DocumentedErrorDetail: {
      schema: detail,
      doc: 'One detail of an error of this version of the service.',
    },
    DocumentedError: {
      schema: schemas.Error,
      doc: 'Body of an error of this version of the service.',
    },
  }
}

function wordsOf(words: string[]): string {
  return words.map((word) => `'${word}'`).join(' | ')
}

/** @returns the same text for schemas that allow the same values, even where their descriptions differ */
export function shapeOf(schema: Json): string {
  const described = new Set(['description', 'default', 'examples', 'title'])
  return JSON.stringify(schema, (key, value) =>
    described.has(key) && typeof value !== 'object' ? undefined : value,
  )
}

/** @returns the text of `src/contract/wire-types.ts`, formatted */
export function wireTypes(document: Json): string {
  const { components } = document
  const types = typesOf(document)
  const names = new Map(types.map(({ name, schema, parameters }) => [shapeOf(schema), { name, parameters }]))
  const { error, code } = components.schemas.Error.properties
  names.set(shapeOf(error), { name: 'ErrorCategory', parameters: undefined })
  names.set(shapeOf(code), { name: 'ErrorCode', parameters: undefined })
  const typeOf = (schema: Json, field = ''): string => {
    if (schema.$ref) return typeOf(components.schemas[schema.$ref.split('/').at(-1)])
    if (field === 'action') return 'A'
    const named = names.get(shapeOf(schema))
    if (named) return named.name + (named.parameters === IMAGE ? '<Image>' : '')
    if (schema.enum) return wordsOf(schema.enum)
    if (schema.anyOf) return schema.anyOf.map((one: Json) => typeOf(one)).join(' | ')
    if (schema.contentEncoding === 'base64') return 'Image'
    switch (schema.type) {
      case 'array':
        return `Array<${typeOf(schema.items)}>`
      case 'object':
        if (!schema.properties) return '{ [name: string]: unknown }'
        return `{\n${fieldsOf(schema) || '[name: string]: never'}}`
      case 'integer':
        return 'number'
      default:
        return schema.type
    }
  }
  const said = new Set<string>()
  /** In answers, a long description stands only at the first field that has it. Requests are described in full. */
  const once = (text: string, isRequest: boolean) => {
    if (!isRequest && text.length > 40 && said.has(text)) return ''
    said.add(text)
    return text
  }
  const fieldsOf = ({ properties, required = [], additionalProperties }: Json, without: string[] = []) => {
    // Requests refuse unknown fields, answers may get new ones.
    const isRequest = additionalProperties === false
    return Object.entries<Json>(properties)
      .filter(([field]) => !without.includes(field))
      .map(([field, schema]) => {
        const text = once(descriptionOf(schema, components.schemas), isRequest)
        const optional = required.includes(field) ? '' : '?'
        return `${comment(text)}'${field}'${optional}: ${typeOf(schema, field)}\n`
      })
      .join('')
  }
  const wordLists = types.filter(({ schema }) => schema.enum?.length > 1)
  /** @returns a list of words as an earlier list with words added, or null where none of them is its beginning */
  const extended = (schema: Json): string | null => {
    const isBeginning = (words: string[]) =>
      words.length < schema.enum.length && words.every((word, index) => word === schema.enum[index])
    const base = wordLists.findLast((one) => isBeginning(one.schema.enum))
    return base ? `${base.name} | ${wordsOf(schema.enum.slice(base.schema.enum.length))}` : null
  }
  const declarations = types.map(({ name, schema, doc, without, parameters = '' }) => {
    const text = comment(doc ?? schema.description)
    if (schema.properties)
      return `${text}export interface ${name}${parameters} {\n${fieldsOf(schema, without)}}\n`
    return `${text}export type ${name} = ${extended(schema) ?? wordsOf(schema.enum)}\n`
  })
  const head = [
    '/** Generated from docs/openapi.json and the claims by `npm run docs`: requests, answers, claims and webhooks by their wire names. */',
    "import type { ErrorCategory, ErrorCode } from './error-codes.js'",
    "import type { Action, ActionLike, ImageInput } from './inputs.js'\n",
  ]
  return formatted([...head, ...declarations].join('\n'), 'src/contract/wire-types.ts')
}

/** @returns the description of a field, with the format, the range and the default that its schema states */
export function descriptionOf(schema: Json, schemas: Json): string {
  if (schema.$ref) return descriptionOf(schemas[schema.$ref.split('/').at(-1)], schemas)
  const inner = schema.anyOf?.length === 2 && schema.anyOf[1].type === 'null' ? schema.anyOf[0] : {}
  const { description, format, minimum, maximum, default: fallback } = { ...inner, ...schema }
  const added = [
    ...(format === 'date-time' ? ['RFC 3339'] : []),
    ...(maximum === undefined ? [] : [`${minimum} to ${maximum}`]),
    ...(fallback === undefined ? [] : [`default \`${fallback}\``]),
  ].join('; ')
  const sentence = added && added[0]!.toUpperCase() + added.slice(1)
  return [description ?? '', sentence && `${sentence}.`].filter(Boolean).join(' ')
}

const LINE = 116

function comment(text: string | undefined): string {
  if (!text) return ''
  if (text.length <= LINE) return `/** ${text} */\n`
  return `/**\n${wrapped(text)
    .map((line) => ` * ${line}\n`)
    .join('')} */\n`
}

/** @returns the lines of a comment */
export function wrapped(text: string): string[] {
  const lines = ['']
  for (const word of text.split(' '))
    if (lines.at(-1)!.length + word.length > LINE) lines.push(word)
    else lines.push(`${lines.pop()} ${word}`.trim())
  return lines
}

/** @param file path in the repository, by which Biome chooses its settings */
export function formatted(source: string, file: string): string {
  const biome = packageFile('node_modules', '.bin', 'biome')
  const { stdout, stderr } = spawnSync(biome, ['format', `--stdin-file-path=${packageFile(file)}`], {
    input: source,
    encoding: 'utf8',
  })
  if (!stdout) throw new Error(`Biome did not format ${file}: ${stderr}`)
  return stdout
}
