/** Fields of bodies that several routes take. */
import Type from 'typebox'
import { userId, words } from '../../api/schemas.js'

export const text = (maxLength: number) => Type.String({ maxLength })

export const environment = words(['sandbox', 'production'])
export const fmr = Type.Number({ exclusiveMinimum: 0, exclusiveMaximum: 1 })
export const ratePerSecond = Type.Number({ exclusiveMinimum: 0, maximum: 1_000_000 })
export const base64 = Type.String({ minLength: 1, contentEncoding: 'base64' })
export const password = text(1024)
export const code = text(32)

/** Names a user in the body, so that no address holds the user id. */
export const userQuestion = { user_id: userId, environment }
export const personNamed = { name: text(128) }
export const personWithRole = {
  ...personNamed,
  role: words(['admin', 'viewer']),
}
