/** GET /: a page with one button. It signs in a user of the sandbox whom every check approves. */
const PAGE = `<!doctype html><meta charset="utf-8"><title>Bank</title><button>Send 1250.00 EUR to Grace</button><script>
  document.querySelector('button').onclick = async () => {
    const headers = { 'Content-Type': 'application/json' }
    const body = JSON.stringify({ amount: '1250.00', to: 'Grace' })
    const { url, message } = await (await fetch('/transfers', { method: 'POST', headers, body })).json()
    if (url) location = url
    else alert(message)
  }
</script>`

export const GET = () =>
  new Response(PAGE, {
    headers: {
      'Content-Type': 'text/html',
      'Set-Cookie': 'user=ada%2Bmatch; Path=/; HttpOnly; SameSite=Lax',
    },
  })
