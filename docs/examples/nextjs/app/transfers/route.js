/** POST /transfers: asks for the face of who is signed in, for this very transfer. */
import { bankUrl, countersign, refuse, route, sessionOf, waiting } from '../../lib/bank.mjs'

// The routes share the memory of one process of Node.
export const runtime = 'nodejs'

export const POST = route(async (request) => {
  const { user } = sessionOf(request)
  const { amount, to } = await request.json().catch(() => ({}))
  if (typeof amount !== 'string' || typeof to !== 'string') return refuse(400, 'This cannot be read.')
  const action = { type: 'transfer', amount, to }
  const { session_id, url } = await countersign.createCaptureSession({
    user_id: user,
    action,
    require_liveness: 'active',
    description: `Transfer of ${amount} EUR to ${to}`,
    return_url: `${bankUrl()}/confirmed`,
  })
  waiting.set(session_id, { user, action })
  const headers = { 'Set-Cookie': `began=${session_id}; Path=/; HttpOnly; SameSite=Lax` }
  return Response.json({ url }, { status: 201, headers })
})
