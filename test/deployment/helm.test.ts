/** The chart, by Helm itself: linted, rendered to docs/operations/kubernetes.yaml, and with its options. */

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { ALL_SETTINGS } from '../../src/app/configuration.js'
import { packageFile } from '../../src/lib/package-root.js'
import { findHelm, runHelm } from '../support/helm.js'
import { type Manifest, readManifests, typeErrors } from '../support/kubernetes.js'
import { temporaryFolder } from '../support/temporary-folder.js'

const CHART = packageFile('docs', 'operations', 'helm', 'countersign')
const ALERTS = packageFile('docs', 'operations', 'alerts.yml')
const RENDERED = packageFile('docs', 'operations', 'kubernetes.yaml')
/** The values that have no default. */
const REQUIRED = ['operatorPasswordKey=operator.password', 'tlsTerminatedUpstream=true']
const HEAD = `# What the chart beside this file renders with its default values, a password in the Secret and TLS at the ingress, for those who
# do without Helm. Change the addresses, the certificate's authorities and the image to yours; docs/guides/kubernetes.md has the commands.
`

const helm = await findHelm()

describe.skipIf(!helm)('Helm', () => {
  const renderOnly = (...settings: string[]) =>
    runHelm(
      helm!,
      ...['template', 'countersign', CHART, '--namespace', 'countersign'],
      ...settings.flatMap((setting) => ['--set', setting]),
    )
  const render = (...settings: string[]) => renderOnly(...REQUIRED, ...settings)
  const manifests = (...settings: string[]): Manifest[] => readManifests(render(...settings).stdout)
  const only = (kind: string, rendered: Manifest[]) => rendered.find((one) => one.kind === kind)!

  it('has nothing for the linter to report', () => {
    const { status, stdout } = runHelm(
      helm!,
      ...['lint', '--strict', CHART],
      ...REQUIRED.flatMap((setting) => ['--set', setting]),
    )
    expect(stdout).toContain('0 chart(s) failed')
    expect(status).toBe(0)
  })

  it('renders the plain manifests (UPDATE_DOCS=1 writes them)', () => {
    const { stdout, stderr } = render()
    expect(stderr).toBe('')
    const expected = HEAD + stdout
    if (process.env.UPDATE_DOCS === '1') writeFileSync(RENDERED, expected)
    expect(readFileSync(RENDERED, 'utf8')).toBe(expected)
  })

  it('renders the values for production that the guide to Kubernetes shows', () => {
    const guide = readFileSync(packageFile('docs', 'guides', 'kubernetes.md'), 'utf8')
    const [, values] = /^## For production\n[\s\S]*?^```yaml\n([\s\S]*?)^```$/m.exec(guide)!
    const file = join(temporaryFolder(), 'values.yaml')
    // The guide leaves the digest of the image to the reader.
    writeFileSync(file, values!.replace('sha256:…', `sha256:${'0a'.repeat(32)}`))
    const { status, stderr } = runHelm(helm!, 'template', 'countersign', CHART, '--values', file)
    expect([status, stderr]).toEqual([0, ''])
  })

  it('renders manifests that Kubernetes accepts, with every option', () => {
    const rendered = manifests(
      'autoscaling.enabled=false',
      'database.caConfigMap=',
      'epochKeys.existingClaim=epochs',
      'image.tag=next',
      'imagePullSecrets[0].name=registry',
      'model.existingClaim=packs',
      'networkPolicy.databaseTo[0].ipBlock.cidr=10.0.0.0/8',
      'nodeSelector.disk=fast',
      'podAnnotations.team=identity',
      'priorityClassName=high',
      'prometheusRule.enabled=true',
      'serviceMonitor.enabled=true',
      'settings.COUNTERSIGN_REPLAY_POLICY=reject',
      'tolerations[0].key=faces',
      'urls.capture=https://capture.bank.example',
      'tolerations[0].operator=Exists',
      'volumes[0].name=more',
      'volumes[0].emptyDir.medium=Memory',
      'volumeMounts[0].name=more',
      'volumeMounts[0].mountPath=/more',
    )
    expect(typeErrors(rendered)).toEqual([])
    const { spec } = only('Deployment', rendered)
    expect(spec.replicas).toBe(2)
    expect(spec.template.spec.containers[0].env).toEqual(
      expect.arrayContaining([
        { name: 'COUNTERSIGN_REPLAY_POLICY', value: 'reject' },
        { name: 'COUNTERSIGN_EPOCH_KEYS', value: '/epochs' },
        { name: 'COUNTERSIGN_MODELS_DIR', value: '/models' },
        { name: 'COUNTERSIGN_OPERATOR_PASSWORD_FILE', value: '/run/secrets/countersign/operator.password' },
      ]),
    )
    const ports: Array<{ name: string }> = spec.template.spec.containers[0].ports
    expect(ports.at(-1)).toEqual({ name: 'capture', containerPort: 8084 })
    const kinds = rendered.map(({ kind }) => kind)
    expect(kinds).toContain('ServiceMonitor')
    expect(kinds).toContain('PrometheusRule')
    expect(kinds).not.toContain('HorizontalPodAutoscaler')
  })

  it('renders the values of the trial for the PostgreSQL that comes with them', () => {
    const operations = (name: string) => packageFile('docs', 'operations', name)
    const { stdout, stderr } = runHelm(
      helm!,
      ...['template', 'countersign', CHART, '--namespace', 'countersign'],
      ...['--values', operations('trial-values.yaml')],
    )
    expect(stderr).toBe('')
    const service = readManifests(stdout)
    const database = readManifests(readFileSync(operations('trial-postgres.yaml'), 'utf8'))
    expect(typeErrors([...service, ...database])).toEqual([])
    const { env } = only('Deployment', service).spec.template.spec.containers[0]
    const { value } = env.find(({ name }: Manifest) => name === 'COUNTERSIGN_DATABASE')
    const { name, namespace } = only('Service', database).metadata
    expect(new URL(value).hostname).toBe(`${name}.${namespace}.svc.cluster.local`)
  })

  it('gives the Prometheus operator the alert rules and the job that they need', () => {
    const rendered = manifests(
      'prometheusRule.enabled=true',
      'prometheusRule.labels.release=prometheus',
      'serviceMonitor.enabled=true',
    )
    const rule = only('PrometheusRule', rendered)
    expect(rule.spec).toEqual(parse(readFileSync(ALERTS, 'utf8')))
    expect(rule.metadata.labels.release).toBe('prometheus')
    const [down] = rule.spec.groups[0].rules
    const { jobLabel } = only('ServiceMonitor', rendered).spec
    const metrics = rendered.find(
      ({ kind, metadata }) => kind === 'Service' && metadata.name.endsWith('-metrics'),
    )!
    expect(down.expr).toContain(`job="${metrics.metadata.labels[jobLabel]}"`)
  })

  it('contains the alert rules of docs/operations/alerts.yml (UPDATE_DOCS=1 copies them)', () => {
    if (process.env.UPDATE_DOCS === '1') writeFileSync(join(CHART, 'alerts.yml'), readFileSync(ALERTS))
    expect(readFileSync(join(CHART, 'alerts.yml'), 'utf8')).toBe(readFileSync(ALERTS, 'utf8'))
  })

  it('probes the admin listener by HTTPS where it has a certificate', () => {
    const rendered = manifests('adminTls=true', 'serviceMonitor.enabled=true')
    const [container] = only('Deployment', rendered).spec.template.spec.containers
    for (const probe of ['startupProbe', 'readinessProbe', 'livenessProbe'])
      expect(container[probe].httpGet.scheme).toBe('HTTPS')
    expect(only('ServiceMonitor', rendered).spec.endpoints[0].scheme).toBe('https')
  })

  it('gives a pod the time that a longer deadline needs', () => {
    const { spec } = only('Deployment', manifests('deadlineMs=60000', 'preStopSeconds=8'))
    expect(spec.template.spec.terminationGracePeriodSeconds).toBe(73)
  })

  it('scales by the queue too where an adapter for metrics is there, and leaves the policy out on request', () => {
    const rendered = manifests('autoscaling.queue.enabled=true', 'networkPolicy.enabled=false')
    const { spec } = only('HorizontalPodAutoscaler', rendered)
    expect(spec.metrics.map(({ type }: Manifest) => type)).toEqual(['Pods', 'Resource'])
    // Another test compares the list of metrics with the service; one without labels and suffix is a gauge.
    expect(readFileSync(packageFile('docs', 'operations', 'monitoring.md'), 'utf8')).toContain(
      `- \`${spec.metrics[0].pods.metric.name}\`: `,
    )
    expect(rendered.map(({ kind }) => kind)).not.toContain('NetworkPolicy')
  })

  it('accepts an image by its digest', () => {
    const digest = `sha256:${'0a'.repeat(32)}`
    const { spec } = only(
      'Deployment',
      manifests('image.repository=registry.bank.example/countersign', `image.digest=${digest}`),
    )
    expect(spec.template.spec.containers[0].image).toBe(`registry.bank.example/countersign@${digest}`)
  })

  it('allows traffic to receivers of webhooks and to a collector of traces where they are named', () => {
    const { spec } = only(
      'NetworkPolicy',
      manifests(
        'networkPolicy.httpsTo[0].ipBlock.cidr=203.0.113.0/24',
        'networkPolicy.egress[0].ports[0].port=4318',
      ),
    )
    expect(spec.egress.slice(2)).toEqual([
      { ports: [{ port: 443 }], to: [{ ipBlock: { cidr: '203.0.113.0/24' } }] },
      { ports: [{ port: 4318 }] },
    ])
  })

  it('refuses to install without a password or a provider for operators, and without a word on TLS', () => {
    const [password, tls] = REQUIRED as [string, string]
    for (const [settings, said] of [
      [[tls], 'operatorPasswordKey is empty'],
      [[password], 'tlsTerminatedUpstream is not set'],
    ] as const) {
      const { status, stderr } = renderOnly(...settings)
      expect(status).not.toBe(0)
      expect(stderr).toContain(said)
    }
    for (const instead of [
      [tls, 'settings.COUNTERSIGN_OIDC_ISSUER=https://login.bank.example'],
      [password, 'tlsTerminatedUpstream=false'],
    ])
      expect(renderOnly(...instead).status).toBe(0)
  })

  it('refuses every secret among the settings', () => {
    for (const { variable } of Object.values(ALL_SETTINGS).filter(({ isSecret }) => isSecret)) {
      const { status, stderr } = render(`settings.${variable}=x`)
      expect(status).not.toBe(0)
      expect(stderr).toContain(variable)
    }
  })

  for (const [what, setting, said] of [
    ['a tag that means another image tomorrow', 'image.tag=latest', 'image/tag'],
    ['a policy that lets everybody in', 'networkPolicy.apiFrom=null', "missing property 'apiFrom'"],
    [
      'a password in the address of the database',
      'database.url=postgres://u:secret@db/c',
      'does not match pattern',
    ],
    ['a name that means nothing', 'replica=3', "'replica' not allowed"],
    ['an address of an API without /v1', 'urls.production=https://bank.example', 'does not match pattern'],
    ['a setting of another program', 'settings.PATH=/bin', "'PATH' not allowed"],
  ] as const)
    it(`refuses ${what}`, () => {
      const { status, stderr } = render(setting)
      expect(status).not.toBe(0)
      expect(stderr).toContain(said)
    })
})
