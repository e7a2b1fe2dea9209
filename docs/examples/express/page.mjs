/** What the page does; in a browser, `photo` comes from the camera: canvas.toDataURL('image/jpeg'). */

/**
 * @param {string} bank
 * @param {string} user
 * @param {string} amount
 * @param {string} to
 * @param {() => Promise<string>} takePhoto
 */
export async function transfer(bank, user, amount, to, takePhoto) {
  /**
   * @param {string} path
   * @param {object} body
   * @param {Record<string, string>} [headers]
   */
  const post = (path, body, headers) =>
    fetch(bank + path, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'X-User': user, ...headers },
      body: JSON.stringify(body),
    })
  const refused = await post('/transfers', { amount, to })
  if (refused.status !== 401) return refused.json()
  const { challenge } = await refused.json()
  if (!challenge) throw new Error('Sign in first.')
  const checked = await post('/step-up', { action: challenge.action, photo: await takePhoto() })
  const { verdict, reason, jwt, message } = await checked.json()
  if (!checked.ok) throw new Error(message)
  if (verdict !== 'approved') throw new Error(`Not countersigned: ${reason}`)
  return (await post('/transfers', { amount, to }, { [challenge.header]: jwt })).json()
}
