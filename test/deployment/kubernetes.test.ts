/** docs/operations/kubernetes.yaml, rendered by the chart: types that Kubernetes accepts, settings of the service, and few rights. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { ALL_SETTINGS, loadConfig } from '../../src/app/configuration.js'
import { parsePostgresUrl } from '../../src/features/postgres/postgres-url.js'
import { packageFile } from '../../src/lib/package-root.js'
import { IMAGE_ENVIRONMENT, instruction } from '../support/dockerfile.js'
import { type Manifest, readManifests, typeErrors } from '../support/kubernetes.js'

const read = (...path: string[]) => readFileSync(packageFile('docs', ...path), 'utf8')
const manifests = readManifests(read('operations', 'kubernetes.yaml'))
const all = (kind: string) => manifests.filter((one) => one.kind === kind)
const only = (kind: string): Manifest => {
  expect(all(kind)).toHaveLength(1)
  return all(kind)[0]!
}

const { template, selector } = only('Deployment').spec
const pod: Manifest = template.spec
const [container] = pod.containers
const environment: Record<string, string> = Object.fromEntries(
  container.env.map(({ name, value }: { name: string; value: string }) => [name, value]),
)
const config = loadConfig({ ...IMAGE_ENVIRONMENT, ...environment })
const ports: Record<string, number> = Object.fromEntries(
  container.ports.map((port: Manifest) => [port.name, port.containerPort]),
)

it('has no unknown field, and none of a wrong type', () => {
  expect(typeErrors(manifests)).toEqual([])
  const [first, ...rest] = manifests
  const wrong = typeErrors([{ ...first, spec: { ...first!.spec, replica: 2 } }, ...rest])
  expect(wrong.join('\n')).toMatch(/replica.* does not exist in type/)
})

it('has an object of every kind that a cluster needs, all in one namespace, and no secret', () => {
  expect(manifests.map(({ kind }) => kind).sort()).toEqual([
    'Deployment',
    'HorizontalPodAutoscaler',
    'NetworkPolicy',
    'PodDisruptionBudget',
    'Service',
    'Service',
    'ServiceAccount',
  ])
  expect(new Set(manifests.map(({ metadata }) => metadata.namespace))).toEqual(new Set(['countersign']))
})

describe('the settings', () => {
  it('are known to the service, with values that it accepts', () => {
    const known = new Set<string>(Object.values(ALL_SETTINGS).map(({ variable }) => variable))
    expect(Object.keys(environment).filter((name) => !known.has(name))).toEqual([])
    expect(environment).not.toHaveProperty('COUNTERSIGN_MASTER_KEY')
    expect(parsePostgresUrl(config.database).password).toBeUndefined()
  })

  it('name files and folders that are mounted', () => {
    const mounted: string[] = container.volumeMounts.map(({ mountPath }: Manifest) => mountPath)
    const named = [
      config.dataDir,
      config.masterKeyFile,
      config.databasePasswordFile!,
      new URL(config.database).searchParams.get('sslrootcert')!,
    ]
    expect(named.filter((path) => !mounted.some((folder) => path.startsWith(`${folder}/`)))).toEqual([])
    expect(mounted).toContain('/tmp')
    const volumes = pod.volumes.map(({ name }: Manifest) => name)
    expect(container.volumeMounts.map(({ name }: Manifest) => name).sort()).toEqual(volumes.sort())
  })

  it('listen on addresses that reach the container', () => {
    const { productionListen, sandboxListen, adminListen, metricsListen } = config
    expect(ports).toEqual({
      production: productionListen.port,
      sandbox: sandboxListen.port,
      admin: adminListen.port,
      metrics: metricsListen!.port,
    })
  })

  it('have as many workers as requested CPUs', () => {
    expect(container.resources.requests.cpu).toBe(String(config.workers))
    expect(container.resources.limits).not.toHaveProperty('cpu')
  })
})

describe('a pod', () => {
  it('runs as the user of the image, with no right that it does not need', () => {
    const [user, group] = instruction('USER')!.split(':').map(Number)
    expect(pod).toMatchObject({
      automountServiceAccountToken: false,
      serviceAccountName: only('ServiceAccount').metadata.name,
      securityContext: {
        ...{ runAsNonRoot: true, runAsUser: user, runAsGroup: group },
        seccompProfile: { type: 'RuntimeDefault' },
      },
    })
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    })
    for (const key of ['hostNetwork', 'hostPID', 'hostIPC']) expect(pod).not.toHaveProperty(key)
  })

  it('is probed for readiness and liveness at the admin listener', () => {
    for (const [probe, path] of [
      ['startupProbe', '/readyz'],
      ['readinessProbe', '/readyz'],
      ['livenessProbe', '/livez'],
    ] as const)
      expect(container[probe].httpGet).toEqual({ path, port: 'admin' })
  })

  it('has time to end for the hook and for a call', () => {
    const [, hookSeconds] = container.lifecycle.preStop.exec.command
    const needed = Number(hookSeconds) * 1000 + config.deadlineMs + 2000
    expect(pod.terminationGracePeriodSeconds * 1000).toBeGreaterThan(needed)
  })

  it('is scheduled on another machine, and in another zone, than the next', () => {
    const spread = pod.topologySpreadConstraints.map((one: Manifest) => [
      one.topologyKey,
      one.whenUnsatisfiable,
    ])
    expect(spread).toEqual([
      ['kubernetes.io/hostname', 'DoNotSchedule'],
      ['topology.kubernetes.io/zone', 'ScheduleAnyway'],
    ])
    for (const { labelSelector } of pod.topologySpreadConstraints) expect(labelSelector).toEqual(selector)
    // Otherwise pods of a lost machine would wait for it.
    expect(pod.topologySpreadConstraints[0].nodeTaintsPolicy).toBe('Honor')
    for (const { matchLabelKeys } of pod.topologySpreadConstraints)
      expect(matchLabelKeys).toEqual(['pod-template-hash'])
  })
})

describe('what finds the pods', () => {
  it('matches their labels', () => {
    const { labels } = template.metadata
    const found = [
      selector.matchLabels,
      ...all('Service').map(({ spec }) => spec.selector),
      only('PodDisruptionBudget').spec.selector.matchLabels,
      only('NetworkPolicy').spec.podSelector.matchLabels,
    ]
    for (const one of found) expect(one).toEqual(labels)
    const { name } = only('Deployment').metadata
    expect(only('HorizontalPodAutoscaler').spec.scaleTargetRef).toEqual({
      ...{ apiVersion: 'apps/v1', kind: 'Deployment', name },
    })
  })

  it('reaches only ports that they have, and nobody else reaches the dashboard’s', () => {
    const targets = all('Service').flatMap(({ spec }) => spec.ports.map((port: Manifest) => port.targetPort))
    expect(targets.sort()).toEqual(['metrics', 'production', 'sandbox'])
    const { ingress, policyTypes } = only('NetworkPolicy').spec
    const letIn = ingress.flatMap((rule: Manifest) => rule.ports.map(({ port }: Manifest) => port))
    expect(letIn.sort()).toEqual(['metrics', 'production', 'sandbox'])
    expect(policyTypes).toEqual(['Ingress', 'Egress'])
  })

  it('lets them reach DNS and the database, and nothing else', () => {
    const { egress, ingress } = only('NetworkPolicy').spec
    const reached = egress.map((rule: Manifest) => [...new Set(rule.ports.map(({ port }: Manifest) => port))])
    expect(reached).toEqual([[53], [parsePostgresUrl(config.database).hosts[0]!.port]])
    // A rule without peers applies to all.
    for (const peers of [
      ...egress.map(({ to }: Manifest) => to),
      ...ingress.map(({ from }: Manifest) => from),
    ]) {
      expect(peers.length).toBeGreaterThan(0)
      for (const { namespaceSelector, ipBlock } of peers) {
        if (ipBlock) expect(ipBlock.cidr).not.toMatch(/\/0$/)
        else expect(Object.keys(namespaceSelector.matchLabels)).not.toEqual([])
      }
    }
  })

  it('scales by CPU, which every cluster with a metrics server knows', () => {
    const [cpu, ...others] = only('HorizontalPodAutoscaler').spec.metrics
    expect(others).toEqual([])
    expect(cpu.resource.name).toBe('cpu')
    expect(only('HorizontalPodAutoscaler').spec.minReplicas).toBeGreaterThan(1)
  })
})

it('pods request the space that they need on the machine’s disk', () => {
  const { requests, limits } = container.resources
  expect([requests['ephemeral-storage'], limits['ephemeral-storage']]).toEqual(['1Gi', '2Gi'])
  const { sizeLimit } = pod.volumes.find(({ name }: Manifest) => name === 'data').emptyDir
  expect(Number.parseInt(sizeLimit, 10)).toBeLessThan(Number.parseInt(limits['ephemeral-storage'], 10))
})

it('the chart has the version of the package', () => {
  const chart = parse(read('operations', 'helm', 'countersign', 'Chart.yaml'))
  const { version } = JSON.parse(readFileSync(packageFile('package.json'), 'utf8'))
  expect(chart).toMatchObject({ version, appVersion: version })
  expect(container.image).toBe(`countersign:${version}`)
})
