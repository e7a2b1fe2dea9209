import { useState } from 'preact/hooks'
import { type SessionView, signIn } from './api.js'
import { Problem } from './parts.js'

export function SignInPage(props: { problem: string | null; onSignedIn: (session: SessionView) => void }) {
  const [password, setPassword] = useState('')
  const [problem, setProblem] = useState(props.problem)
  const submit = (event: Event) => {
    event.preventDefault()
    signIn({ password }).then(props.onSignedIn, (error: Error) => setProblem(error.message))
  }
  return (
    <main class="sign-in">
      <h1>Countersign</h1>
      <form class="card" onSubmit={submit}>
        <h2>Operator</h2>
        <label for="password">Operator password</label>
        <input
          id="password"
          type="password"
          autocomplete="current-password"
          required
          value={password}
          onInput={(event) => setPassword(event.currentTarget.value)}
        />
        <Problem message={problem} />
        <button type="submit" class="primary">
          Sign in
        </button>
      </form>
      <section class="card">
        <h2>Tenant</h2>
        <p>Open the login link that the operator gave you. A new one is made by</p>
        <pre>
          <code>countersign tenant login-link &lt;tenant&gt;</code>
        </pre>
      </section>
    </main>
  )
}
