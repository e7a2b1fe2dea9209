/** Asks the signed-in person to confirm their identity before a secret is revealed or data is destroyed. */
import { callOperator } from './base/api.js'
import { useAction } from './base/data.js'
import { CodeField, type Given, PasswordField } from './base/form.js'
import { Dialog, Problem } from './base/parts.js'
import { useSession } from './base/session.js'

/** Key of the session storage that keeps the page during the sign-in at the provider. */
const KEPT_PAGE = 'countersign.page'
const FRESH = 'fresh'

const BUTTONS = { password: 'Continue', oidc: 'Sign in again', link: 'Close' } as const

/** @param onDone called with whether the sign-in is fresh now */
export function FreshSignIn(props: { onDone: (isFresh: boolean) => void }) {
  const { method, second_factor } = useSession()
  const { problem, isBusy, run } = useAction()
  const submit = (close: (answer: string) => void, given: Given) => {
    if (method === 'oidc') return leaveForProvider()
    if (method !== 'password') return close('')
    void run(async () => {
      const [password, code] = [given.typed('fresh-password'), given.text('fresh-code')]
      await callOperator('POST /session/confirm', code ? { password, code } : { password })
      close(FRESH)
    })
  }
  return (
    <Dialog
      title="Confirm your identity"
      submit={BUTTONS[method]}
      isDisabled={isBusy}
      canCancel={method !== 'link'}
      onSend={submit}
      onClose={(answer) => props.onDone(answer === FRESH)}
    >
      {method === 'password' && (
        <>
          <p>Enter your password again before you continue.</p>
          <PasswordField id="fresh-password" label="Your password" autocomplete="current-password" />
          {second_factor === 'enrolled' && <CodeField id="fresh-code" />}
        </>
      )}
      {method === 'oidc' && (
        <p>Sign in again with SSO before you continue. You then return to this page and repeat the action.</p>
      )}
      {method === 'link' && (
        <>
          <p>
            This action needs a recent sign-in, and you signed in with a link. Sign out and sign in again with
            your password, or open a new link in this browser, and repeat the action. The operator makes a
            link with
          </p>
          <pre tabIndex={0}>
            <code>npx countersign tenant login-link &lt;tenant&gt;</code>
          </pre>
        </>
      )}
      <Problem message={problem} />
    </Dialog>
  )
}

function leaveForProvider(): void {
  sessionStorage.setItem(KEPT_PAGE, location.hash)
  location.assign('/api/oidc/login?fresh')
}

/** Returns to the page from which the browser left for the provider, if it did. */
export function returnToKeptPage(): void {
  const kept = sessionStorage.getItem(KEPT_PAGE)
  sessionStorage.removeItem(KEPT_PAGE)
  if (kept && location.hash === '') location.replace(kept)
}
