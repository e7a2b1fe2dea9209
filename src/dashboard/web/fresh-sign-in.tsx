/** Asks the signed-in person to confirm their identity before a secret is revealed or data is destroyed. */
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import type { SessionView } from '../contract.js'
import { callOperator } from './base/api.js'
import { useAction } from './base/data.js'
import { Button, CodeField, PasswordField, sending } from './base/form.js'
import { Problem } from './base/parts.js'

/** Key of the session storage that keeps the page during the sign-in at the provider. */
const KEPT_PAGE = 'countersign.page'

/** @param onDone called with whether the sign-in is fresh now */
export function FreshSignIn(props: { session: SessionView; onDone: (isFresh: boolean) => void }) {
  const dialog = useRef<HTMLDialogElement>(null)
  const titleId = useId()
  const { method } = props.session
  const [password, setPassword] = useState('')
  const [code, setCode] = useState('')
  const asksCode = props.session.second_factor === 'enrolled'
  const { problem, isBusy, run } = useAction()
  useEffect(() => dialog.current?.showModal(), [])
  const submit = () => {
    if (method === 'oidc') return leaveForProvider()
    if (method !== 'password') return dialog.current?.close()
    void run(async () => {
      await callOperator('POST /session/confirm', asksCode ? { password, code } : { password })
      dialog.current?.close('fresh')
    })
  }
  return (
    <dialog
      ref={dialog}
      aria-labelledby={titleId}
      onClose={() => props.onDone(dialog.current?.returnValue === 'fresh')}
    >
      <form onSubmit={sending(submit)}>
        <h2 id={titleId}>Confirm your identity</h2>
        {method === 'password' && (
          <>
            <p>Enter your password again before you continue.</p>
            <PasswordField
              id="fresh-password"
              label="Your password"
              autocomplete="current-password"
              value={password}
              onText={setPassword}
            />
            {asksCode && <CodeField id="fresh-code" value={code} onText={setCode} />}
          </>
        )}
        {method === 'oidc' && (
          <p>
            Sign in again with SSO before you continue. You then return to this page and repeat the action.
          </p>
        )}
        {method === 'link' && (
          <>
            <p>
              This action needs a recent sign-in, and you signed in with a link. Sign out and sign in again
              with your password, or open a new link in this browser, and repeat the action. The operator
              makes a link with
            </p>
            <pre tabIndex={0}>
              <code>npx countersign tenant login-link &lt;tenant&gt;</code>
            </pre>
          </>
        )}
        <Problem message={problem} />
        <div class="actions">
          {method !== 'link' && <Button text="Cancel" onClick={() => dialog.current?.close()} />}
          <Button
            text={method === 'password' ? 'Continue' : method === 'oidc' ? 'Sign in again' : 'Close'}
            type="submit"
            class="primary"
            disabled={isBusy}
          />
        </div>
      </form>
    </dialog>
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
