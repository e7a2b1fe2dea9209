/** The surroundings of a scenario: an SDK behind a driver, a tenant of its own, and a hop between them that can misbehave. */
import type { TestService, TestTenant } from '../../support/service.js'
import type { FaultyProxy } from '../proxy.js'
import type { Driver, Said } from './driver.js'

export interface Photos {
  /** A picture without a face, which the sandbox takes for one. */
  blank: string
  ada: string
  adaToday: string
  grace: string
}

type Request = Record<string, unknown>

/** One client of the SDK. */
export class Sdk {
  /** Seconds by which the SDK's clock is ahead of the service's; negative where it is behind. */
  aheadSeconds = 0

  constructor(
    private readonly driver: Driver,
    private readonly running: TestService,
    private readonly name: string,
  ) {}

  /** The answer of a call that must succeed. */
  // biome-ignore lint/suspicious/noExplicitAny: scenarios look into answers freely
  async call(what: string, request: Request = {}, options: object = {}): Promise<any> {
    const { value, error } = await this.said(what, request, options)
    if (error) throw new Error(`${what}: ${JSON.stringify(error)}`)
    return value
  }

  /** The error of a call that must fail. */
  async refused(
    what: string,
    request: Request = {},
    options: object = {},
  ): Promise<NonNullable<Said['error']>> {
    const { value, error } = await this.said(what, request, options)
    if (!error) throw new Error(`${what} succeeded: ${JSON.stringify(value)}`)
    return error
  }

  said(what: string, request: unknown = {}, options: object = {}): Promise<Said> {
    const now = this.running.clock.now() / 1000 + this.aheadSeconds
    return this.driver.say({ do: what, name: this.name, now, request, options })
  }
}

export interface World {
  running: TestService
  tenant: TestTenant
  /** Between the SDK and the sandbox. */
  proxy: FaultyProxy
  photos: Photos
  driver: Driver
  /** A client of the tenant's sandbox, through the proxy. */
  client(options?: Request): Promise<Sdk>
  /** The tenant's production key. */
  productionKey(): Promise<string>
  /** A client of the tenant's production, without a hop. */
  production(options?: Request): Promise<Sdk>
}

export interface Scenario {
  title: string
  run(world: World): Promise<void>
}

let clients = 0

export function newWorld(parts: Omit<World, 'client' | 'productionKey' | 'production'>): World {
  const { running, tenant, proxy, driver } = parts
  const make = async (options: Request) => {
    const sdk = new Sdk(driver, running, `client-${++clients}`)
    const { error } = await sdk.said('client', null, {
      signing_secret: [`${tenant.secret.id}:${tenant.secret.secret}`],
      tenant_id: tenant.id,
      ...options,
    })
    if (error) throw new Error(error.message)
    return sdk
  }
  // The service reveals it once.
  let key: string | undefined
  const productionKey = async () => {
    key ??= (await running.production(tenant)).key
    return key
  }
  return {
    ...parts,
    productionKey,
    client: (options = {}) => make({ base_url: proxy.url, api_key: tenant.sandboxKey, ...options }),
    async production(options = {}) {
      const api_key = await productionKey()
      return make({ base_url: running.service.url('production'), api_key, ...options })
    },
  }
}
