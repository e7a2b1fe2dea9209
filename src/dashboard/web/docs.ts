/** The API reference, rendered from the OpenAPI document that this very service serves. */
import SwaggerUI from 'swagger-ui-dist/swagger-ui-es-bundle.js'
import 'swagger-ui-dist/swagger-ui.css'

SwaggerUI({
  url: '/v1/openapi.json',
  dom_id: '#reference',
  deepLinking: true,
  // Calls go to another origin; "Try it" of the dashboard is the place for them.
  supportedSubmitMethods: [],
  validatorUrl: null,
})
