/** GET /confirmed: the capture page leads back here, and the transfer is carried out if the verdict allows it. */
import { ACTIVE_ACR } from 'countersign/client'
import { countersign, refuse, route, sessionOf, waiting } from '../../lib/bank.mjs'

export const runtime = 'nodejs'
// Each call reads the session again: nothing of it may be cached.
export const dynamic = 'force-dynamic'

export const GET = route(async (request) => {
  const { user, began } = sessionOf(request)
  // Anybody may have sent the address: it has to be that of the transfer which this very sign-in began.
  const { searchParams } = new URL(request.url)
  const id = searchParams.get('capture_session') ?? ''
  const transfer = waiting.get(id)
  if (!transfer || transfer.user !== user || began !== id)
    return refuse(404, 'Nothing waits to be confirmed.')
  // Only the browser that captured brings the proof. Another one may be that of a person who passed the link on.
  const session = await countersign.getCaptureSession(id, { proof: searchParams.get('capture_proof') })
  if (session.status === 'open' || session.status === 'in_progress')
    return refuse(409, 'This is not confirmed yet.')
  if (session.result_withheld) return refuse(403, 'Please go back to the browser in which you confirmed.')
  // The transfer no longer waits, whether it is carried out or not.
  waiting.delete(id)
  const { action } = transfer
  // Throws a VerdictError unless it is an approval of this action by this user in this session, used for the first time.
  const { jti } = await countersign.verifyVerdict(session, {
    userId: user,
    action,
    captureSessionId: id,
    acr: ACTIVE_ACR,
  })
  // Here the money moves.
  return Response.json({ done: action, countersigned: jti })
})
