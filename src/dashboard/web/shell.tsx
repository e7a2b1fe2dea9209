/** The frame around every page: the navigation, the heading, and the page that the address names. */
import type { ComponentType } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { SessionView, TenantRoutes } from '../contract.js'
import { CallError, get, tenantAddress } from './base/api.js'
import { Brand } from './base/brand.js'
import { Button } from './base/form.js'
import { Card } from './base/parts.js'
import { useRights, useSession } from './base/session.js'
import { ThemeButton } from './base/theme.js'
import { TimesButton } from './base/times.js'
import { AuditPage } from './pages/audit-page.js'
import { CapturePage } from './pages/capture-page.js'
import { DriftPage } from './pages/drift-page.js'
import { KeysPage } from './pages/keys-page.js'
import { ModelsPage } from './pages/models-page.js'
import { OpenIdClientsPage } from './pages/openid-clients-page.js'
import { OperatorsPage } from './pages/operators-page.js'
import { OverviewPage } from './pages/overview-page.js'
import { PasskeysPage } from './pages/passkeys-page.js'
import { PasswordPage } from './pages/password-page.js'
import { PeoplePage } from './pages/people-page.js'
import { PolicyPage } from './pages/policy-page.js'
import { RequestsPage } from './pages/requests-page.js'
import { SecondFactorPage } from './pages/second-factor-page.js'
import { SessionsPage, TenantSessionsPage } from './pages/sessions-page.js'
import { SystemPage } from './pages/system-page.js'
import { TenantsPage } from './pages/tenants-page.js'
import { UsersPage } from './pages/users-page.js'
import { WebhooksPage } from './pages/webhooks-page.js'
import { TryPage } from './try/try-page.js'

/** Name in the address, heading, page. */
type PageEntry<Props> = [name: string, heading: string, page: ComponentType<Props>]

/** Each with the route without which the page would be useless. */
const TENANT_PAGES: Array<[...PageEntry<{ tenantId: string }>, needed?: keyof TenantRoutes]> = [
  ['overview', 'Overview', OverviewPage],
  ['drift', 'Drift', DriftPage, 'GET /drift'],
  ['keys', 'Keys and secrets', KeysPage],
  ['users', 'Users', UsersPage],
  ['webhooks', 'Webhooks', WebhooksPage, 'GET /webhooks'],
  ['capture-page', 'Capture page', CapturePage, 'GET /capture-page'],
  ['policy', 'Policy', PolicyPage, 'GET /policy'],
  ['passkeys', 'Passkeys', PasskeysPage, 'GET /passkeys'],
  ['openid-clients', 'Applications', OpenIdClientsPage, 'GET /openid-clients'],
  ['requests', 'Requests', RequestsPage, 'GET /requests'],
  ['audit', 'Audit log', AuditPage],
  ['people', 'People', PeoplePage],
  ['sessions', 'Sessions', TenantSessionsPage],
  ['try', 'Try it', TryPage, 'POST /try/call'],
]
/** The pages of the person's own password and second factor. Each is shown before all others when it is required. */
const [PASSWORD, SECOND_FACTOR] = ['password', 'second-factor']
const OWN_PAGES: Array<PageEntry<{ onChanged: () => void }>> = [
  [PASSWORD, 'Password', PasswordPage],
  [SECOND_FACTOR, 'Second factor', SecondFactorPage],
]
const OPERATOR_PAGES: Array<PageEntry<object>> = [
  ['tenants', 'Tenants', TenantsPage],
  ['operators', 'Operators', OperatorsPage],
  ['sessions', 'Sessions', SessionsPage],
  ['models', 'Models', ModelsPage],
  ['system', 'System', SystemPage],
]

const UNKNOWN = new Set(['tenant_not_found', 'unknown_endpoint'])

/** @param props.onChanged called when the session is out of date, such as after the operator added a second factor */
export function Shell(props: { route: string[]; onChanged: () => void; onSignOut: () => void }) {
  const { route } = props
  const session = useSession()
  const required = requiredPage(session)
  const ownPages = OWN_PAGES.filter(([name]) =>
    name === PASSWORD ? session.password !== null : session.second_factor !== null,
  )
  const ownPage = route.length === 1 ? ownPages.find(([name]) => name === route[0]) : undefined
  const tenantId = session.tenant_id ?? (route[0] === 'tenants' ? route[1] : undefined)
  const base = session.tenant_id ? '#' : `#/tenants/${tenantId}`
  const [named = tenantId ? 'overview' : 'tenants', ...more] =
    tenantId && !session.tenant_id ? route.slice(2) : route
  const may = useRights()
  const tenantPages = required ? [] : TENANT_PAGES.filter(([, , , needed]) => !needed || may.tenant(needed))
  const operatorPages = required ? [] : OPERATOR_PAGES
  const isHere = ([name]: [string, ...unknown[]]) => name === named && more.length === 0
  const tenantPage = tenantId && !ownPage ? tenantPages.find(isHere) : undefined
  const operatorPage = tenantId || ownPage ? undefined : operatorPages.find(isHere)
  // Everybody may read, so that a page which nobody may read is one of a feature that the service lacks.
  const isForbidden =
    tenantId &&
    !ownPage &&
    !tenantPage &&
    TENANT_PAGES.some((entry) => isHere(entry) && !entry[3]?.startsWith('GET '))
  const [here, heading] = ownPage ??
    tenantPage ??
    operatorPage ?? [null, isForbidden ? 'Not allowed' : 'No such page']
  const tenantName = useTenantName(required ? undefined : tenantId)
  const isUnknown = tenantName === null
  const [TenantPage, OtherPage] = [tenantPage?.[2], (ownPage ?? operatorPage)?.[2]]
  useEffect(() => {
    scrollTo(0, 0)
  }, [heading])
  const about = tenantId && !ownPage && tenantName
  useEffect(() => {
    document.title = [heading, ...(about ? [about] : []), 'Countersign'].join(' · ')
  }, [heading, about])
  const linksTo = (pages: ReadonlyArray<[string, string, ...unknown[]]>, base: string, areHere = true) =>
    pages.map(([name, text]) => (
      <NavLink key={name} href={`${base}/${name}`} here={areHere && here === name} text={text} />
    ))
  return (
    <div class="shell">
      <Button text="Skip to content" class="skip" onClick={() => document.getElementById('main')?.focus()} />
      <nav aria-label="Pages">
        <Brand />
        {!session.tenant_id && <ul>{linksTo(operatorPages, '#', !tenantId)}</ul>}
        {tenantId && !required && !isUnknown && (
          <ul aria-label={tenantName}>
            <li class="group muted small">{tenantName}</li>
            {linksTo(tenantPages, base)}
          </ul>
        )}
        <ul class="foot">
          <li class="who muted small">
            {session.person.name}, {session.person.role}
          </li>
          {linksTo(ownPages, '#')}
          <li>
            <a href="/docs/">Documentation</a>
          </li>
          <li>
            <ThemeButton />
          </li>
          <li>
            <TimesButton />
          </li>
          <li>
            <Button text="Sign out" class="quiet" onClick={props.onSignOut} />
          </li>
        </ul>
      </nav>
      <main id="main" tabIndex={-1}>
        <h1>
          {heading}
          {about && <span class="of"> · {about}</span>}
        </h1>
        {isUnknown ? (
          <Card title="There is no such tenant">
            <p>
              No tenant has this address. <a href="#/tenants">Go to the tenants</a>
            </p>
          </Card>
        ) : isForbidden ? (
          <Card title="Your role may not open this page">
            <p>
              This page makes changes, and a {session.person.role} may only read. An admin can give you
              another role. <a href="#/">Go to the first page</a>
            </p>
          </Card>
        ) : tenantId && TenantPage ? (
          <TenantPage key={tenantId} tenantId={tenantId} />
        ) : OtherPage ? (
          <OtherPage onChanged={props.onChanged} />
        ) : (
          <Card title="There is nothing at this address">
            <p>
              It may be mistyped, or from another version. <a href="#/">Go to the first page</a>
            </p>
          </Card>
        )}
      </main>
    </div>
  )
}

/** Returns the page that must be shown before all others, or null. */
export function requiredPage({ password, second_factor }: SessionView): string[] | null {
  if (password === 'required') return [PASSWORD]
  return second_factor === 'required' ? [SECOND_FACTOR] : null
}

function NavLink({ href, here, text }: { href: string; here: boolean; text: string }) {
  const link = useRef<HTMLAnchorElement>(null)
  // On a phone the row of pages may be wider than the screen. The row itself is scrolled, since Chromium would continue Tab from an element
  // that `scrollIntoView` moved, past the skip link.
  useEffect(() => {
    const row = link.current?.closest('ul')
    if (!here || !row) return
    const [item, frame] = [link.current!.getBoundingClientRect(), row.getBoundingClientRect()]
    row.scrollLeft += Math.min(0, item.left - frame.left) + Math.max(0, item.right - frame.right)
  }, [here])
  return (
    <li>
      <a ref={link} href={href} {...(here ? { 'aria-current': 'page' as const } : {})}>
        {text}
      </a>
    </li>
  )
}

/** Returns the name of the tenant, or null when there is no such tenant. */
function useTenantName(id: string | undefined): string | null {
  const [name, setName] = useState<string | null>('')
  useEffect(() => {
    setName('')
    if (id)
      get(tenantAddress(id, 'GET /')).then(
        (tenant) => setName(tenant.name),
        (error) => setName(error instanceof CallError && UNKNOWN.has(error.code) ? null : id),
      )
  }, [id])
  return name
}
