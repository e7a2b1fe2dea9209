/** The dashboard's API as its pages see it: the types that follow from the declarations of its routes. */
import type { capturePageRoutes } from '../features/capture-sessions/console-routes.js'
import type { insightRoutes } from '../features/insight/console-routes.js'
import type { requestRoutes } from '../features/insight/requests/request-routes.js'
import type { openIdClientRoutes } from '../features/openid/console/console-routes.js'
import type { passkeyRoutes } from '../features/passkeys/console/console-routes.js'
import type { policyRoutes } from '../features/policies/console-routes.js'
import type { verdictKeyRoutes } from '../features/public-verdicts/console-routes.js'
import type { webhookRoutes } from '../features/webhooks/console-routes.js'
import type { AnswerOf, QueryOf } from './lib/route.js'
import type { ROUTES } from './routes/routes.js'

export type { PersonRole } from '../admin/accounts/account-tables.js'
export type { Environment } from '../config/config.js'
export type { SessionView } from './admin-api.js'
export type { AnswerOf, InputOf, QueryOf } from './lib/route.js'

export type OperatorRoutes = (typeof ROUTES)['operator'] & ReturnType<typeof verdictKeyRoutes>
export type TenantRoutes = (typeof ROUTES)['tenant'] &
  ReturnType<typeof capturePageRoutes> &
  ReturnType<typeof insightRoutes> &
  ReturnType<typeof openIdClientRoutes> &
  ReturnType<typeof passkeyRoutes> &
  ReturnType<typeof policyRoutes> &
  ReturnType<typeof requestRoutes> &
  ReturnType<typeof webhookRoutes>

type OfOperator<Name extends keyof OperatorRoutes> = AnswerOf<OperatorRoutes[Name]>
type OfTenant<Name extends keyof TenantRoutes> = AnswerOf<TenantRoutes[Name]>

export type SystemView = OfOperator<'GET /system'>
export type ModelsView = OfOperator<'GET /models'>
export type LoadedPackView = ModelsView['packs'][number]
export type TenantModelView = ModelsView['tenants'][number]
export type OperatorView = OfOperator<'POST /operators/role'>
export type SessionList = OfOperator<'GET /sessions'>
export type ListedSession = SessionList['sessions'][number]

export type TenantView = OfTenant<'PATCH /'>
export type TenantOverview = OfTenant<'GET /'>
export type TenantErasureView = OfTenant<'DELETE /'>
export type KeyView = TenantOverview['keys'][number]
export type SigningSecretView = TenantOverview['signing_secrets'][number]
export type PersonView = OfTenant<'POST /people/role'>
export type InvitedPerson = OfTenant<'POST /people'>
export type CapturePageView = OfTenant<'GET /capture-page'>
/** A user, with what features add: passkeys are missing in a service without them. */
export type UserView = NonNullable<OfTenant<'POST /users/find'>['user']> & { passkeys?: number }
export type ErasureView = OfTenant<'POST /erase'>
export type WebhookList = OfTenant<'GET /webhooks'>
export type WebhookView = WebhookList['webhooks'][number]
export type DeliveryView = OfTenant<'GET /webhooks/deliveries'>['deliveries'][number]
export type DeliveryState = DeliveryView['status']
export type Inspection = OfTenant<'POST /try/inspect'>
export type TriedCall = OfTenant<'POST /try/call'>
export type TriedOperation = QueryOf<TenantRoutes['POST /try/call']>['operation']

export type TrafficView = OfTenant<'GET /traffic'>
export type TrafficSlot = TrafficView['slots'][number]
export type TrafficWindow = TrafficView['window']
export type RequestPage = OfTenant<'GET /requests'>
export type RequestView = RequestPage['requests'][number]
export type PolicyView = OfTenant<'GET /policy'>
export type PolicyHashes = PolicyView['in_force']
export type PolicyVersionView = PolicyView['versions'][number]
export type PolicyChangeView = PolicyView['changes'][number]
export type CheckedPolicy = OfTenant<'POST /policy/check'>
export type OpenIdClientView = OfTenant<'POST /openid-clients'>['client']
export type PasskeySettingsView = OfTenant<'GET /passkeys'>
export type PasskeyView = OfTenant<'POST /users/passkeys'>['passkeys'][number]
