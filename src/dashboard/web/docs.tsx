/** The API reference, rendered from the OpenAPI document that this very service serves. */
import { render } from 'preact'
import SwaggerUI from 'swagger-ui-dist/swagger-ui-es-bundle.js'
import { Brand } from './brand.js'
import { followSystemTheme, ThemeButton } from './theme.js'
import './docs.css'

followSystemTheme()
render(
  <header class="bar">
    <a href="/">
      <Brand />
    </a>
    <div>
      <a class="back" href="/">
        ← Dashboard
      </a>
      <ThemeButton />
    </div>
  </header>,
  document.getElementById('bar')!,
)

interface React {
  createElement(type: unknown, props: unknown, ...children: unknown[]): unknown
  Fragment: unknown
}

/** What a screen reader stumbles over: a part outside of every landmark, a level of headings left out, links inside of buttons. */
const accessible = ({ React }: { React: React }) => ({
  wrapComponents: {
    InfoContainer: (Info: unknown) => (props: unknown) =>
      React.createElement('section', { 'aria-label': 'About' }, React.createElement(Info, props)),
    operations: (Operations: unknown) => (props: unknown) =>
      React.createElement(
        React.Fragment,
        null,
        React.createElement('h2', { className: 'for-readers' }, 'Endpoints'),
        React.createElement(Operations, props),
      ),
    DeepLink: () => (props: { text: unknown }) => React.createElement('span', null, props.text),
  },
})

SwaggerUI({
  url: '/v1/openapi.json',
  dom_id: '#reference',
  deepLinking: true,
  // Calls go to another origin; "Try it" of the dashboard is the place for them.
  supportedSubmitMethods: [],
  validatorUrl: null,
  plugins: [accessible],
})
