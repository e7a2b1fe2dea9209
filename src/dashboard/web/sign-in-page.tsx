/** The way in: the operator by password; a tenant by a login link, which needs no form. */
import { useEffect, useState } from 'preact/hooks'
import type { SessionView } from '../contract.js'
import { CallError, signIn } from './api.js'
import { Brand } from './brand.js'
import { CodeField, Problem } from './parts.js'
import { useAction } from './use-action.js'

export function SignInPage(props: { problem: string | null; onSignedIn: (session: SessionView) => void }) {
  const [name, setName] = useState('')
  const [password, setPassword] = useState('')
  const [code, setCode] = useState('')
  const [asksCode, setAsksCode] = useState(false)
  const [ways, setWays] = useState({ enabled: false, password: true })
  const [isShown, setShown] = useState(true)
  const { problem, isBusy, run } = useAction()
  useEffect(() => {
    void fetch('/api/oidc')
      .then((response) => response.json())
      .then(({ enabled, password }) => setWays({ enabled: enabled === true, password: password !== false }))
      .catch(() => setWays({ enabled: false, password: true }))
  }, [])
  const submit = (event: Event) => {
    event.preventDefault()
    setShown(false)
    void run(async () => {
      const credentials = { ...(name === '' ? {} : { name }), password, ...(code === '' ? {} : { code }) }
      try {
        props.onSignedIn(await signIn(credentials))
      } catch (error) {
        if (error instanceof CallError && error.code === 'second_factor_required' && !asksCode)
          return setAsksCode(true)
        throw error
      }
    })
  }
  return (
    <main class="sign-in">
      <h1>
        <Brand />
      </h1>
      <Problem message={isShown ? props.problem : null} />
      <section class="card">
        <h2>Tenant</h2>
        <p>
          Open the login link that the operator gave you. It works once, within an hour; a new one is made by
        </p>
        <pre tabIndex={0}>
          <code>npx countersign tenant login-link &lt;name&gt;</code>
        </pre>
      </section>
      <form class="card" onSubmit={submit}>
        <h2>Operator</h2>
        {ways.password && (
          <>
            <label for="name">Name, where you have one of your own</label>
            <input
              id="name"
              type="text"
              autocomplete="username"
              value={name}
              onInput={(event) => setName(event.currentTarget.value)}
            />
            <label for="password">Operator password</label>
            <input
              id="password"
              type="password"
              autocomplete="current-password"
              required
              value={password}
              onInput={(event) => setPassword(event.currentTarget.value)}
            />
            {asksCode && <CodeField id="code" value={code} onInput={setCode} />}
          </>
        )}
        <Problem message={problem} />
        <div class="toolbar">
          {ways.password && (
            <button type="submit" class="primary" disabled={isBusy}>
              Sign in
            </button>
          )}
          {ways.enabled && (
            <a class={ways.password ? 'button' : 'button primary'} href="/api/oidc/login">
              Sign in by your organisation's provider
            </a>
          )}
        </div>
      </form>
    </main>
  )
}
