/** The page for the sign-in by name and password, or by the provider. A login link needs a form only for a code. */
import { useEffect, useState } from 'preact/hooks'
import type { SessionView } from '../../contract.js'
import { CallError, signIn, waysToSignIn } from '../base/api.js'
import { Brand } from '../base/brand.js'
import { useAction } from '../base/data.js'
import { Button, CodeField, Field, type Given, PasswordField, sending } from '../base/form.js'
import { Problem } from '../base/parts.js'

/** @param props.link token of a login link that asks for a code of the second factor as well */
export function SignInPage(props: {
  problem: string | null
  link: string | null
  onSignedIn: (session: SessionView) => void
}) {
  const { link } = props
  const [asksCode, setAsksCode] = useState(link !== null)
  const [ways, setWays] = useState({ enabled: false, password: true })
  const [isShown, setShown] = useState(true)
  const { problem, isBusy, run } = useAction()
  useEffect(() => {
    waysToSignIn().then(setWays, () => {})
  }, [])
  const submit = ({ text, typed }: Given) => {
    setShown(false)
    void run(async () => {
      const [name, code] = [text('name'), text('code')]
      const who =
        link === null ? { ...(name && { name }), password: typed('password') } : { login_token: link }
      try {
        props.onSignedIn(await signIn({ ...who, ...(code && { code }) }))
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
      <form class="card" onSubmit={sending(submit)}>
        <h2>Sign in</h2>
        {ways.password && link === null && (
          <>
            <Field
              id="name"
              label="User name"
              hint="Leave empty to sign in with the shared operator password."
              type="text"
              autocomplete="username"
            />
            <PasswordField id="password" label="Password" autocomplete="current-password" />
          </>
        )}
        {asksCode && <CodeField id="code" />}
        <Problem message={problem} />
        <div class="toolbar">
          {(ways.password || link !== null) && (
            <Button text="Sign in" type="submit" class="primary" disabled={isBusy} />
          )}
          {ways.enabled && (
            <a class={ways.password ? 'button' : 'button primary'} href="/api/oidc/login">
              Sign in with SSO
            </a>
          )}
        </div>
      </form>
      <section class="card">
        <h2>Use a sign-in link</h2>
        <p>
          Open your sign-in link in this browser. It works once. An admin of your tenant invites you; the
          operator makes a tenant's first link, or one for an emergency, with
        </p>
        <pre tabIndex={0}>
          <code>npx countersign tenant login-link &lt;tenant&gt;</code>
        </pre>
      </section>
    </main>
  )
}
