/** The dashboard: who is signed in, and which page the address names. */
import { render } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { currentSession, get, type SessionView, signIn, signOut, type TenantView } from './api.js'
import { AuditPage } from './audit-page.js'
import { ErasePage } from './erase-page.js'
import { KeysPage } from './keys-page.js'
import { OverviewPage } from './overview-page.js'
import { Loading } from './parts.js'
import { SignInPage } from './sign-in-page.js'
import { SystemPage } from './system-page.js'
import { TenantsPage } from './tenants-page.js'
import { applyTheme, ThemeButton } from './theme.js'
import { TryPage } from './try-page.js'
import './style.css'

const TENANT_PAGES = [
  ['overview', 'Overview', OverviewPage],
  ['keys', 'Keys and secrets', KeysPage],
  ['audit', 'Audit log', AuditPage],
  ['try', 'Try it', TryPage],
  ['erase', 'Erasure', ErasePage],
] as const

function useHash(): string[] {
  const [hash, setHash] = useState(location.hash)
  useEffect(() => {
    const follow = () => setHash(location.hash)
    addEventListener('hashchange', follow)
    return () => removeEventListener('hashchange', follow)
  }, [])
  return hash.replace(/^#\/?/, '').split('/')
}

function App() {
  const route = useHash()
  const [session, setSession] = useState<SessionView | null | undefined>(undefined)
  const [problem, setProblem] = useState<string | null>(null)
  const loginToken = route[0] === 'login' ? route[1] : undefined
  useEffect(() => {
    // Out of the address before anything else: it must not stay in the history.
    if (loginToken) location.replace('#/')
    else if (session !== undefined) return
    const opened = loginToken ? signIn({ login_token: loginToken }) : currentSession()
    opened.then(setSession, (error: Error) => {
      if (loginToken) setProblem(error.message)
      setSession(null)
    })
  }, [loginToken])
  if (session === undefined) return <Loading />
  if (session === null) return <SignInPage key={problem} problem={problem} onSignedIn={setSession} />
  const leave = () => {
    const done = () => {
      location.hash = ''
      setSession(null)
    }
    signOut().then(done, done)
  }
  return <Shell session={session} route={route} onSignOut={leave} />
}

function Shell({
  session,
  route,
  onSignOut,
}: {
  session: SessionView
  route: string[]
  onSignOut: () => void
}) {
  const tenantId = session.tenant_id ?? (route[0] === 'tenants' ? route[1] : undefined)
  const pageName = (session.tenant_id ? route[0] : route[2]) || 'overview'
  const base = session.tenant_id ? '#' : `#/tenants/${tenantId}`
  const page = TENANT_PAGES.find(([name]) => name === pageName) ?? TENANT_PAGES[0]
  const [, title, Page] = page
  const operatorPage = route[0] === 'system' ? 'System' : 'Tenants'
  const heading = tenantId ? title : operatorPage
  useEffect(() => {
    document.title = `${heading} · Countersign`
  }, [heading])
  return (
    <div class="shell">
      <button type="button" class="skip" onClick={() => document.getElementById('main')?.focus()}>
        Skip to content
      </button>
      <nav aria-label="Pages">
        <div class="brand">
          <img src={new URL('./mark.svg', import.meta.url).href} alt="" width="22" height="22" /> Countersign
        </div>
        {!session.tenant_id && (
          <ul>
            <NavLink href="#/tenants" here={!tenantId && operatorPage === 'Tenants'} text="Tenants" />
            <NavLink href="#/system" here={operatorPage === 'System'} text="System" />
          </ul>
        )}
        {tenantId && (
          <ul>
            {TENANT_PAGES.map(([name, text]) => (
              <NavLink key={name} href={`${base}/${name}`} here={page[0] === name} text={text} />
            ))}
          </ul>
        )}
        <ul class="foot">
          <li>
            <a href="/docs">API reference</a>
          </li>
          <li>
            <ThemeButton />
          </li>
          <li>
            <button type="button" class="quiet" onClick={onSignOut}>
              Sign out
            </button>
          </li>
        </ul>
      </nav>
      <main id="main" tabIndex={-1}>
        <h1>
          {heading}
          {tenantId && <TenantName id={tenantId} />}
        </h1>
        {tenantId ? (
          <Page key={tenantId} tenantId={tenantId} />
        ) : operatorPage === 'System' ? (
          <SystemPage />
        ) : (
          <TenantsPage />
        )}
      </main>
    </div>
  )
}

function NavLink({ href, here, text }: { href: string; here: boolean; text: string }) {
  return (
    <li>
      <a href={href} {...(here ? { 'aria-current': 'page' as const } : {})}>
        {text}
      </a>
    </li>
  )
}

function TenantName({ id }: { id: string }) {
  const [name, setName] = useState('')
  useEffect(() => {
    get<TenantView>(`/tenants/${id}`).then(
      (tenant) => setName(tenant.name),
      () => setName(id),
    )
  }, [id])
  return <span class="of">{name}</span>
}

applyTheme()
render(<App />, document.getElementById('app')!)
