/** Replies of the provider that are no page. */
import { plain } from '../../http/admin/replies.js'
import type { Reply } from '../../http/listeners/listener.js'

/** Sends the browser on by GET. */
export function seeOther(location: string): Reply {
  return { status: 303, headers: { Location: location, 'Cache-Control': 'no-store' }, body: '' }
}

/** A refusal that the person sees, because nothing may be sent to the address in the request. */
export function refusedHere(
  status: number,
  error: string,
  text: string,
  headers: Record<string, string> = {},
): Reply {
  return plain(status, `${error}: ${text}\n`, headers)
}
