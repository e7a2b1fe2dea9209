/** POST /transfers: asks for the face of who is signed in, for this very transfer. */
import { bankUrl, countersign, refuse, route, signedIn, waiting } from '../../lib/bank.mjs'

// The routes share the memory of one process of Node.
export const runtime = 'nodejs'

export const POST = route(async (request) => {
  const user = signedIn(request)
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
  return Response.json({ url }, { status: 201 })
})
