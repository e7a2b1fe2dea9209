/** What the page does; in a browser, `photo` comes from the camera: canvas.toDataURL('image/jpeg'). */

export async function transfer(bank, user, amount, to, takePhoto) {
  const post = (path, body, headers = {}) =>
    fetch(bank + path, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'X-User': user, ...headers },
      body: JSON.stringify(body),
    })
  const refused = await post('/transfers', { amount, to })
  if (refused.status !== 401) return refused.json()
  const { challenge } = await refused.json()
  if (!challenge) throw new Error('Sign in first.')
  const { verdict, reason, jwt } = await (
    await post('/step-up', { action: challenge.action, photo: await takePhoto() })
  ).json()
  if (verdict !== 'approved') throw new Error(`Not countersigned: ${reason}`)
  return (await post('/transfers', { amount, to }, { [challenge.header]: jwt })).json()
}
