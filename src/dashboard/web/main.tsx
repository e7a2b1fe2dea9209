/** The dashboard. It finds out who is signed in, and shows the page that the address names. */
import { render } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { SessionView } from '../contract.js'
import { useHash } from './base/address-query.js'
import {
  CallError,
  currentSession,
  onFreshSignIn,
  SIGNED_OUT,
  sessionIfAny,
  signIn,
  signOut,
} from './base/api.js'
import { Brand } from './base/brand.js'
import { Loading, Waiting } from './base/parts.js'
import { SessionContext } from './base/session.js'
import { followSystemTheme } from './base/theme.js'
import { FreshSignIn, returnToKeptPage } from './fresh-sign-in.js'
import { SignInPage } from './pages/sign-in-page.js'
import { isProviderProblem, providerProblem } from './provider-problem.js'
import { requiredPage, Shell } from './shell.js'
import './style.css'

function useRoute(): string[] {
  return useHash()
    .slice(1)
    .replace(/\?.*/, '')
    .split('/')
    .filter((part) => part !== '')
}

function App() {
  const route = useRoute()
  const [session, setSession] = useState<SessionView | null | undefined>(undefined)
  const [problem, setProblem] = useState(() => providerProblem(route))
  const loginToken = route[0] === 'login' ? route[1] : undefined
  /** A login link that asks for a code as well. */
  const [link, setLink] = useState<string | null>(null)
  const asked = useRef(false)
  const [isOffline, setOffline] = useState(false)
  useEffect(() => {
    // Removing the token from the address runs this effect again, while the sign-in is still in flight.
    const isFirst = !asked.current
    asked.current = true
    const opened = loginToken ? signIn({ login_token: loginToken }) : isFirst ? sessionIfAny() : null
    // Neither a token nor the failure of an earlier sign-in may stay in the history.
    if (loginToken || isProviderProblem(route)) location.replace('#/')
    const begin = (view: SessionView | null) => {
      if (view) returnToKeptPage()
      setSession(view)
    }
    opened?.then(begin, (error: Error) => {
      if (error instanceof CallError && error.code === 'offline' && !loginToken) return setOffline(true)
      const asksCode = error instanceof CallError && error.code === 'second_factor_required'
      setLink(loginToken && asksCode ? loginToken : null)
      if (loginToken && !asksCode) setProblem(error.message)
      setSession(null)
    })
  }, [loginToken])
  useEffect(() => {
    const end = () => {
      setProblem('Your session has ended. Sign in again.')
      setSession(null)
    }
    addEventListener(SIGNED_OUT, end)
    return () => removeEventListener(SIGNED_OUT, end)
  }, [])
  const [asking, setAsking] = useState<((isFresh: boolean) => void) | null>(null)
  useEffect(() => onFreshSignIn(() => new Promise((resolve) => setAsking(() => resolve))), [])
  if (session === undefined && isOffline)
    return (
      <main class="sign-in">
        <h1>
          <Brand />
        </h1>
        <Waiting data={{ error: 'The service cannot be reached.', reload: () => location.reload() }} />
      </main>
    )
  if (session === undefined) return <Loading />
  if (session === null)
    return (
      <SignInPage
        key={`${problem} ${link}`}
        problem={problem}
        link={link}
        onSignedIn={(opened) => {
          setLink(null)
          setProblem(null)
          setSession(opened)
        }}
      />
    )
  const leave = () => {
    const done = () => {
      location.hash = ''
      setProblem(null)
      setSession(null)
    }
    signOut().then(done, done)
  }
  return (
    <SessionContext.Provider value={session}>
      <Shell
        route={requiredPage(session) ?? route}
        onChanged={() => void currentSession().then(setSession)}
        onSignOut={leave}
      />
      {asking && (
        <FreshSignIn
          onDone={(isFresh) => {
            setAsking(null)
            asking(isFresh)
          }}
        />
      )}
    </SessionContext.Provider>
  )
}

followSystemTheme()
render(<App />, document.getElementById('app')!)
