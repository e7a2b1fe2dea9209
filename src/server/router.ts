/** Which endpoint an address belongs to, and how a request to none of them is refused. */
import { ApiError } from '../api-error.js'
import type { Endpoint } from '../v1/endpoint.js'
import { type InputParser, inputParser } from './json-body.js'
import type { IncomingRequest } from './listener.js'
import { OPENAPI_PATH } from './routes.js'

export interface Route {
  endpoint: Endpoint<unknown>
  parse: InputParser
}

export class Router {
  /** By path, then by method. */
  private readonly routes = new Map<string, Map<string, Route>>()

  constructor(endpoints: Array<Endpoint<unknown>>) {
    for (const endpoint of endpoints) {
      const methods = this.routes.get(endpoint.path) ?? new Map<string, Route>()
      methods.set(endpoint.method, { endpoint, parse: inputParser(endpoint) })
      this.routes.set(endpoint.path, methods)
    }
  }

  find({ path, method }: IncomingRequest): Route | undefined {
    return this.routes.get(path)?.get(method)
  }

  /** @throws ApiError unknown_endpoint, method_not_allowed */
  refuse({ path }: IncomingRequest): never {
    const methods = this.routes.get(path)
    if (!methods && path !== OPENAPI_PATH) throw new ApiError('unknown_endpoint')
    throw new ApiError('method_not_allowed', {
      headers: { Allow: methods ? [...methods.keys()].join(', ') : 'GET' },
    })
  }
}
