/** Replies of workers that carry embeddings of several packs: the service computes with their lengths. */
import { expect, it } from 'vitest'
import { messageCheck } from '../../../src/biometrics/channel/worker-messages.js'

const LENGTHS = new Map([
  ['one@1', 4],
  ['two@1', 8],
])
const reply = (others: unknown, length = 4) => ({
  ok: true,
  value: { embedding: new Float32Array(length), ...(others === undefined ? {} : { others }) },
  timingsMs: {},
})

it.each([
  ['none', undefined],
  ['an empty record', {}],
  ['an embedding of the length of its pack', { 'two@1': new Float32Array(8) }],
  ['no face', { 'two@1': null }],
])('a reply may have embeddings by other packs: %s', (_, others) => {
  expect(messageCheck(4, LENGTHS).isReplyTo('embed', reply(others))).toBe(true)
})

it.each([
  ['another length', { 'two@1': new Float32Array(4) }],
  ['numbers that are no vector', { 'two@1': [0, 0, 0, 0, 0, 0, 0, 0] }],
  ['a pack that is not loaded', { 'three@1': null }],
  ['a name of every object', { constructor: null }],
  ['no record', 5],
])('a reply is refused for embeddings by other packs: %s', (_, others) => {
  expect(messageCheck(4, LENGTHS).isReplyTo('embed', reply(others))).toBe(false)
})

it('a reply has an embedding of the length of the pack that decides', () => {
  expect(messageCheck(8, LENGTHS).isReplyTo('embed', reply(undefined, 4))).toBe(false)
  expect(messageCheck(8, LENGTHS).isReplyTo('embed', reply(undefined, 8))).toBe(true)
})

it('an engine with one pack accepts no embeddings by others', () => {
  expect(messageCheck(4).isReplyTo('embed', reply({ 'one@1': null }))).toBe(false)
})
