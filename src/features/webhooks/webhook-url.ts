/** Checks the URL of a webhook endpoint. */
import { CodedError } from '../../lib/errors.js'

export class WebhookUrlError extends CodedError<'invalid_webhook_url'> {}

const MAX_CHARACTERS = 2048
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/

/**
 * Accepts HTTPS, or plain HTTP to this machine. Private networks are allowed: only an operator can add a webhook, and the receiver is
 * often in the same network.
 * @throws WebhookUrlError invalid_webhook_url
 */
export function assertWebhookUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null
  if (!url || text.length > MAX_CHARACTERS) throw refusal('is not a URL')
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && LOOPBACK.test(url.hostname)))
    throw refusal('must begin with https: (http: only to localhost)')
  if (url.username || url.password)
    throw refusal('must not contain a user name or a password: receivers check the signature instead')
  if (url.hash) throw refusal('must not contain a fragment')
  return url
}

function refusal(issue: string): WebhookUrlError {
  return new WebhookUrlError('invalid_webhook_url', `The URL of the webhook ${issue}.`)
}
