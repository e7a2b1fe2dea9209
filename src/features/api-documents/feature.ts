/** The documents of the API: its description by OpenAPI, and the page that explains its error codes. The admin listener serves both too. */
import { UNKNOWN_HOST } from '../../http/admin/host-guard.js'
import { reply } from '../../http/admin/replies.js'
import { ERRORS_PATH } from '../../http/routing/routes.js'
import type { Feature } from '../feature.js'
import { ERRORS_PAGE, ERRORS_PAGE_HEADERS, errorsPage } from './errors-page.js'
import { type BaseUrls, buildOpenApi } from './openapi.js'

const OPENAPI_PATH = '/v1/openapi.json'

const ADMIN_ERRORS_PAGE = errorsPage('Errors of the Countersign admin listener', [
  { heading: 'Admin listener', meaning: 'Only the admin listener answers this.', errors: [UNKNOWN_HOST] },
])

export const apiDocuments: Feature = {
  attach({ features }) {
    let text: string | null = null
    // Built when it is first asked for: only then are the ports of the APIs known.
    const openApi = (urls: BaseUrls) => {
      text ??= JSON.stringify(buildOpenApi(features, urls))
      return text
    }
    return {
      documents: ({ urls }) => [
        { path: OPENAPI_PATH, answer: () => ({ status: 200, body: openApi(urls()), headers: {} }) },
        {
          path: ERRORS_PATH,
          answer: () => ({ status: 200, body: ERRORS_PAGE, headers: ERRORS_PAGE_HEADERS }),
        },
      ],
      admin: ({ urls }) => ({
        pages: new Map([
          [OPENAPI_PATH, () => reply(200, 'application/json; charset=utf-8', openApi(urls()))],
          [ERRORS_PATH, () => reply(200, 'text/html; charset=utf-8', ADMIN_ERRORS_PAGE, ERRORS_PAGE_HEADERS)],
        ]),
      }),
    }
  },
}
