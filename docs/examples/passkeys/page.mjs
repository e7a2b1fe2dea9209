// The page of a bank: the person makes a passkey, and signs a transfer with it. The bank's backend begins and ends both at Countersign.
import { usePasskey } from 'countersign/passkey'

/** Registers a passkey. It rejects with a `NotAllowedError` where the person declines. */
export async function makePasskey() {
  const options = await post('/passkeys/registration')
  return post('/passkeys', await usePasskey(options))
}

/** Lets a passkey sign the transfer that the backend knows. */
export async function signTransfer() {
  const options = await post('/passkeys/assertion')
  return post('/transfers', await usePasskey(options))
}

/**
 * @param {string} path
 * @param {unknown} [body]
 */
async function post(path, body = {}) {
  const headers = { 'Content-Type': 'application/json' }
  const response = await fetch(path, { method: 'POST', headers, body: JSON.stringify(body) })
  const answer = await response.json()
  if (!response.ok) throw new Error(answer.code)
  return answer
}
