/** The feature for tests: an endpoint that keeps a remark about a user, a field of the verdict that counts them, and a document of their length. */
import { randomUUID } from 'node:crypto'
import Type, { type Static } from 'typebox'
import type { VerifyPart } from '../../../src/api/call-parts.js'
import { ENROLLMENT, type EndpointDescription, type UserEndpoint } from '../../../src/api/endpoint.js'
import { userId, userPath } from '../../../src/api/schemas.js'
import { ownValues } from '../../../src/config/own-settings.js'
import { sealWithin } from '../../../src/crypto/sealed-box.js'
import type { Feature, FeatureHost } from '../../../src/features/feature.js'
import type { PublicDocument } from '../../../src/http/public-documents.js'
import { DomainError } from '../../../src/lib/domain-error.js'
import { REMARK_SETTINGS } from './own.js'
import { remarkReader, remarkWriter } from './remark-table.js'

const verifyPart: VerifyPart<{ count: number }> = {
  fields: [
    {
      name: 'remarks',
      response: Type.Union([Type.Integer(), Type.Null()]),
      to: ['jwt', 'audit'],
      value: (_, counted) => counted?.count,
    },
  ],
  create: ({ store: { read } }) => ({
    about: async ({ record }) => ({ count: (await read.statements(remarkReader).of(record.id)).length }),
  }),
}

const body = Type.Object({ text: Type.String() }, { title: 'RemarkRequest', additionalProperties: false })

const description: EndpointDescription = {
  id: 'add_remark',
  topic: ENROLLMENT,
  sdkName: 'addRemark',
  example: { user_id: 'ada+match', text: 'pays on Mondays' },
  method: 'POST',
  path: '/v1/users/{user_id}/remarks',
  summary: 'Keep a remark about a user',
  description: 'Keeps a remark about an enrolled user.',
  pathParameters: userPath,
  body,
  success: {
    status: 201,
    description: 'Kept.',
    schema: Type.Object({ user_id: userId }, { title: 'Remark' }),
  },
  errors: ['invalid_request', 'reference_not_found', 'overloaded'],
  idempotent: true,
  scopes: ['enroll'],
}

type Input = Static<typeof body> & { user_id: string }

function addRemark({ vault, clock, config }: FeatureHost): UserEndpoint<Input> {
  const { remarkLength } = ownValues(REMARK_SETTINGS, config)
  return {
    ...description,
    aboutUser: true,
    async handle({ input, user }) {
      if (input.text.length > remarkLength) throw new DomainError('invalid_request')
      return async (tx) => {
        const subject = await vault.find(tx, user.blindIndex, user.id)
        if (!subject) throw new DomainError('reference_not_found')
        const createdAt = clock.now()
        const id = randomUUID()
        const sealed = sealWithin(subject.dataKey, Buffer.from(input.text), id)
        await tx.statements(remarkWriter).add({ id, subjectId: subject.record.id, sealed, createdAt })
        return { status: 201, body: { user_id: user.id } }
      }
    },
  }
}

const DOCUMENT = '/v1/remark-length'

function lengthDocument({ config }: FeatureHost): PublicDocument {
  const { remarkLength } = ownValues(REMARK_SETTINGS, config)
  const headers = { 'Content-Type': 'text/plain; charset=utf-8' }
  return { path: DOCUMENT, answer: () => ({ status: 200, body: String(remarkLength), headers }) }
}

export const remarks: Feature = {
  descriptions: [description],
  documentOperations: { [DOCUMENT]: { get: { operationId: 'get_remark_length', security: [] } } },
  parts: { verify: verifyPart },
  attach: (host) => ({ endpoints: () => [addRemark(host)], documents: () => [lengthDocument(host)] }),
}
