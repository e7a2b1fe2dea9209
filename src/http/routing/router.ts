/** Finds the endpoint of a request and the parameters in its path, and refuses a request to an unknown address. */

import type { Endpoint } from '../../api/endpoint.js'
import { MethodNotAllowedError } from '../../api/error-response.js'
import { DomainError } from '../../lib/domain-error.js'
import { type InputParser, inputParser } from '../bodies/json-body.js'
import type { IncomingRequest } from '../listeners/listener.js'

export interface Route {
  endpoint: Endpoint<unknown>
  parse: InputParser
}

/** The endpoint that a request is for. */
export interface Destination {
  /** Path of the endpoint as its description has it. It names nobody, so it may be logged. */
  template: string
  /** Undefined where the address does not support the method. */
  route: Route | undefined
  /** Parameters of the path by name, still percent-encoded. */
  pathParameters: Record<string, string>
}

/** The endpoints of one path. */
interface Place {
  template: string
  pattern: RegExp
  methods: Map<string, Route>
}

export class Router {
  /** Paths without parameters: nearly all requests are for one of them. */
  private readonly exact = new Map<string, Place>()
  private readonly patterns: Place[] = []

  /** @param documentPaths addresses of documents, which are answered to GET before a request comes here */
  constructor(
    endpoints: Array<Endpoint<unknown>>,
    private readonly documentPaths: readonly string[],
  ) {
    for (const endpoint of endpoints) {
      const { path, method } = endpoint
      this.placeOf(path).methods.set(method, { endpoint, parse: inputParser(endpoint) })
    }
  }

  /** @returns undefined for an unknown address */
  find({ path, method }: IncomingRequest): Destination | undefined {
    const place = this.exact.get(path) ?? this.patterns.find(({ pattern }) => pattern.test(path))
    if (!place) return undefined
    const { template, pattern, methods } = place
    return { template, route: methods.get(method), pathParameters: pattern.exec(path)?.groups ?? {} }
  }

  /** @throws DomainError unknown_endpoint, method_not_allowed */
  refuse({ path }: IncomingRequest, destination: Destination | undefined): never {
    const place = destination && this.placeOf(destination.template)
    if (!place && !this.documentPaths.includes(path)) throw new DomainError('unknown_endpoint')
    throw new MethodNotAllowedError(place ? [...place.methods.keys()] : ['GET'])
  }

  private placeOf(template: string): Place {
    const known = this.exact.get(template) ?? this.patterns.find((place) => place.template === template)
    if (known) return known
    const place: Place = { template, pattern: patternOf(template), methods: new Map() }
    if (template.includes('{')) this.patterns.push(place)
    else this.exact.set(template, place)
    return place
  }
}

/** A parameter matches one segment that is not empty. Templates contain no character with a meaning in regular expressions. */
function patternOf(template: string): RegExp {
  return new RegExp(`^${template.replace(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`)
}
