/** The body that names a user, so that no address holds the user id. */
import Type from 'typebox'
import { userId } from '../../api/schemas.js'

export const environment = Type.Union([Type.Literal('sandbox'), Type.Literal('production')])
export const userQuestion = Type.Object({ user_id: userId, environment }, { additionalProperties: false })
