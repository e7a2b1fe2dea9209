/** compose.cluster.yaml: settings that the service accepts, nodes that haproxy and the database know, and no more rights than needed. */
import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { ALL_SETTINGS, loadConfig } from '../../src/app/configuration.js'
import { ownValues } from '../../src/config/own-settings.js'
import { EPOCH_SETTINGS } from '../../src/features/epoch-keys/epoch-settings.js'
import { parsePostgresUrl } from '../../src/features/postgres/postgres-url.js'
import { packageFile } from '../../src/lib/package-root.js'
import { IMAGE, IMAGE_ENVIRONMENT, instruction } from '../support/dockerfile.js'

const read = (name: string) => parse(readFileSync(packageFile(name), 'utf8'), { merge: true })
const { services, networks, secrets, volumes } = read('compose.cluster.yaml')
const { 'node-a': a, 'node-b': b, balancer, database } = services
const haproxy = readFileSync(packageFile('docs', 'operations', 'haproxy.cfg'), 'utf8')
const VARIABLES = new Set<string>(Object.values(ALL_SETTINGS).map(({ variable }) => variable))

/** The defaults that compose uses where nothing is set. */
const withDefaults = (environment: Record<string, string>) =>
  Object.fromEntries(
    Object.entries(environment).map(([name, value]) => [name, value.replace(/\$\{\w+:-([^}]*)\}/g, '$1')]),
  )

describe.each(Object.entries({ a, b }))('node %s', (name, node) => {
  const config = loadConfig({ ...IMAGE_ENVIRONMENT, ...withDefaults(node.environment) })

  it('has settings that the service accepts', () => {
    expect(Object.keys(node.environment).filter((variable) => !VARIABLES.has(variable))).toEqual([])
    expect(parsePostgresUrl(config.database)).toMatchObject({
      hosts: [{ host: 'database', port: 5432 }],
      user: 'countersign',
      database: 'countersign',
    })
    expect(node.secrets.map((secret: string) => `/run/secrets/${secret}`).sort()).toEqual(
      [config.databasePasswordFile, config.masterKeyFile].sort(),
    )
    expect(Object.keys(secrets).sort()).toEqual([...node.secrets].sort())
  })

  it('has the rights and the grace period of the service in compose.yaml', () => {
    const alone = read('compose.yaml').services.countersign
    for (const key of [
      'read_only',
      'cap_drop',
      'security_opt',
      'pids_limit',
      'tmpfs',
      'stop_grace_period',
      'init',
    ])
      expect({ [key]: node[key] }).toEqual({ [key]: alone[key] })
    for (const key of ['privileged', 'cap_add', 'user', 'ports']) expect(node).not.toHaveProperty(key)
    expect(node.healthcheck).toEqual(alone.healthcheck)
  })

  it('has a data folder of its own, and waits for the database', () => {
    expect(node.volumes).toEqual([
      `node-${name}:${IMAGE_ENVIRONMENT.COUNTERSIGN_DATA_DIR}`,
      `epochs:${ownValues(EPOCH_SETTINGS, config).epochKeys}`,
    ])
    expect(volumes).toHaveProperty(`node-${name}`)
    expect(node.depends_on.database.condition).toBe('service_healthy')
  })

  it('is known to haproxy, and trusts only haproxy', () => {
    expect(balancer.environment[`NODE_${name.toUpperCase()}`]).toBe(node.networks.front.ipv4_address)
    expect(config.trustedProxies).toEqual([balancer.networks.front.ipv4_address])
  })
})

it('shares one folder of epoch keys with the other nodes, which only they can access', () => {
  const of = (service: { volumes?: string[] }) => service.volumes ?? []
  const { COUNTERSIGN_EPOCH_KEYS: folder } = a.environment
  const shared = of(a).filter((volume) => of(b).includes(volume))
  expect(shared).toEqual([`epochs:${folder}`])
  expect(volumes).toHaveProperty('epochs')
  for (const other of [balancer, database]) expect(of(other).join()).not.toContain('epochs')
  const made = IMAGE.find(({ rest }) => rest.includes('install --directory'))!.rest
  expect(made).toMatch(new RegExp(`--owner=1000 --group=1000 --mode=0700 .*${folder}$`))
})

describe('the load balancer', () => {
  it('has everything that its configuration asks for', () => {
    const asked = [...haproxy.matchAll(/^ *presetenv (\w+) /gm)].map(([, variable]) => variable)
    // The ports stay as they are inside the containers.
    const places = asked.filter((variable) => !variable!.startsWith('PORT_'))
    expect(Object.keys(balancer.environment).sort()).toEqual(places.sort())
    expect(balancer.volumes[0].split(':')[0]).toBe('./docs/operations/haproxy.cfg')
    expect(balancer).toMatchObject({ read_only: true, cap_drop: ['ALL'] })
  })

  it('publishes its ports only on loopback, and reaches the nodes at theirs', () => {
    const ports = Object.fromEntries(
      [...haproxy.matchAll(/^ *presetenv (PORT_\w+) (\d+)$/gm)].map(([, name, port]) => [name, port]),
    )
    const written = haproxy.replaceAll(/\$\{(PORT_\w+)\}/g, (_, name) => ports[name]!)
    const bound = [...written.matchAll(/^ *bind "\$\{\w+\}:(\d+)"/gm)].map(([, port]) => port)
    expect(balancer.ports).toEqual(bound.map((port) => `127.0.0.1:${port}:${port}`))
    const served = [...written.matchAll(/^ *server a "\$\{NODE_A\}:(\d+)"/gm)].map(([, port]) => port)
    // The capture page and the OpenID provider have listeners only where an operator turns them on.
    const always = served.filter((port) => port !== '8083' && port !== '8085')
    expect([...new Set(always)]).toEqual(instruction('EXPOSE')!.split(' '))
  })

  it('has no access to the database', () => {
    expect(Object.keys(balancer.networks)).toEqual(['front'])
    expect(networks.database).toEqual({ internal: true })
    expect(database.networks).toEqual(['database'])
  })
})

it('the database creates the role with the password that the nodes have', () => {
  expect(database.environment.POSTGRES_PASSWORD_FILE).toBe(a.environment.COUNTERSIGN_DATABASE_PASSWORD_FILE)
  expect(database).not.toHaveProperty('ports')
  const script = /^\.\/(\S+?):\/docker-entrypoint-initdb\.d\/\S+\.sh:ro$/.exec(database.volumes[1])![1]!
  expect(existsSync(packageFile(...script.split('/')))).toBe(true)
})
