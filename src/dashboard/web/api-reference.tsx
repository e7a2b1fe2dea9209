/** The API reference, rendered from the OpenAPI document that this service serves. Its requests go to the sandbox. */
import { render } from 'preact'
import SwaggerUI from 'swagger-ui-dist/swagger-ui-es-bundle.js'
import { SANDBOX_PATH } from '../constants.js'
import { Brand } from './base/brand.js'
import { followSystemTheme, ThemeButton } from './base/theme.js'
import './api-reference.css'

followSystemTheme()
render(
  <header class="bar">
    <a href="/">
      <Brand />
    </a>
    <div>
      <a class="back" href="/docs/">
        Documentation
      </a>
      <a class="back" href="/">
        ← Dashboard
      </a>
      <ThemeButton />
    </div>
  </header>,
  document.getElementById('bar')!,
)

const HOW_TO_SEND =
  'Paste it, open an endpoint and choose Execute: the examples work unchanged. Requests go only to the sandbox, ' +
  'through this page’s own address. The key is forgotten when you leave the page.'

let reference: ReturnType<typeof SwaggerUI> | null = null

interface React {
  createElement(type: unknown, props: unknown, ...children: unknown[]): unknown
  Fragment: unknown
}

/** Repairs the renderer for screen readers: content outside of landmarks, skipped heading levels, links inside buttons. */
const accessible = ({ React: { createElement: make, Fragment } }: { React: React }) => ({
  wrapComponents: {
    InfoContainer: (Info: unknown) => (props: unknown) =>
      make(
        'section',
        { 'aria-label': 'About' },
        make(Info, props),
        make('label', { htmlFor: 'key' }, 'Sandbox key'),
        make('input', {
          id: 'key',
          type: 'password',
          autoComplete: 'off',
          placeholder: 'svc-sbx-…',
          'aria-describedby': 'key-hint',
          onInput: ({ currentTarget }: { currentTarget: HTMLInputElement }) =>
            reference?.preauthorizeApiKey('apiKey', currentTarget.value.trim()),
        }),
        make('p', { id: 'key-hint' }, HOW_TO_SEND),
      ),
    operations: (Operations: unknown) => (props: unknown) =>
      make(Fragment, null, make('h2', { className: 'for-readers' }, 'Endpoints'), make(Operations, props)),
    // The heading of a webhook stands between "Webhooks" (level 2) and the headings of its parts (level 4).
    operation: (Operation: unknown) => (props: { operation: { get: (name: string) => string } }) =>
      make(
        Fragment,
        null,
        props.operation.get('tag') === 'webhooks' &&
          make('h3', { className: 'for-readers' }, `Webhook ${props.operation.get('path')}`),
        make(Operation, props),
      ),
    // "Schemas" is a chapter like "Endpoints" and "Webhooks", and the renderer makes it a heading of level 4.
    Models: (Models: unknown) => (props: unknown) =>
      make(
        'div',
        { ref: (chapter: Element | null) => chapter?.querySelector('h4')?.setAttribute('aria-level', '2') },
        make(Models, props),
      ),
    TextArea: (Area: unknown) => (props: object) => make(Area, { 'aria-label': 'Request body', ...props }),
    DeepLink: () => (props: { text: unknown }) => make('span', null, props.text),
  },
})

interface ApiDocument {
  servers: Array<{ url: string; description: string }>
}

async function show(): Promise<void> {
  const spec: ApiDocument = await (await fetch('/v1/openapi.json')).json()
  spec.servers = spec.servers.filter(({ description }) => description === 'Sandbox.')
  const [sandbox] = spec.servers
  reference = SwaggerUI({
    spec,
    dom_id: '#reference',
    deepLinking: true,
    tryItOutEnabled: true,
    // The colors of the highlighting are inline styles, and too faint to read.
    syntaxHighlight: { activated: false },
    persistAuthorization: false,
    // The page shows the request with the sandbox's own address, which works elsewhere too.
    showMutatedRequest: false,
    requestInterceptor: (request: { url: string }) => ({
      ...request,
      url: request.url.replace(sandbox!.url, SANDBOX_PATH),
    }),
    validatorUrl: null,
    plugins: [accessible],
  })
}

void show()
