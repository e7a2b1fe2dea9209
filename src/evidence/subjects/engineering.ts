/** Judges how the product is made: tests, dependencies, networks, environments. */
import { always, type Evidence, judged, met, notMet, partly } from '../evidence.js'
import { NO_PACK } from './accuracy.js'

export const dependencies: Evidence = judged(
  ({ config }) =>
    config.http === 'node'
      ? met(
          'Every package is pinned by version and SHA-512, advisories are asked for, and a bill of materials is made.',
        )
      : partly(
          'Every package is pinned by version and SHA-512. uWebSockets.js is a repacked binary that no advisory feed knows.',
          'http',
        ),
  {
    settings: ['http'],
    tests: ['test/supply-chain/supply-chain.test.ts', 'test/supply-chain/native-install.test.ts'],
    documents: ['supply-chain.md', 'threat-model.md#the-http-edge-and-the-base-image'],
  },
)

export const testing: Evidence = always(
  partly(
    'Rules, faults, hostile input and fuzzing are tested on every release. Nobody outside has tested or reviewed the code.',
  ),
  {
    tests: [
      'test/hostile/campaign.test.ts',
      'test/fuzz/campaign.test.ts',
      'test/faults/campaign.test.ts',
      'test/imports.test.ts',
    ],
    documents: ['threat-model.md', 'campaigns.md#hostile-input', 'campaigns.md#fuzzing'],
  },
)

export const environments: Evidence = always(
  met(
    'Sandbox and production have addresses, keys, references and signatures of their own, and neither passes for the other.',
  ),
  {
    tests: [
      'test/http/access.test.ts',
      'test/verification/sandbox.test.ts',
      'test/client/countersign.test.ts',
    ],
    documents: ['guides/concepts.md', 'operations/tenants.md#what-the-sandbox-may-hold'],
  },
)

export const containment: Evidence = always(
  partly(
    'Pictures are decoded in a process without keys and settings. It runs under the same user unless a container or unit limits it.',
  ),
  {
    tests: [
      'test/biometrics/engine/engine.test.ts',
      'test/deployment/container.test.ts',
      'test/deployment/systemd.test.ts',
    ],
    documents: ['threat-model.md#boundaries'],
  },
)

/** On what the networks were trained, and whether that was allowed. */
export const trainingData: Evidence = judged(
  ({ pack }) => {
    if (pack === null) return NO_PACK
    const { embedder } = pack.manifest
    return embedder.trainingData === undefined
      ? notMet(`${pack.modelId} does not say on what its embedder was trained.`)
      : notMet(`The embedder of ${pack.modelId} was trained by others. ${embedder.trainingData}`)
  },
  {
    facts: ['pack'],
    tests: ['test/models/pack/model-pack.test.ts'],
    documents: ['model-packs.md#where-the-networks-come-from'],
  },
)
