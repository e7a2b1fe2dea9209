/** The order of the documentation: what each section is for, and its pages with one line about what a page answers and for whom. */

export interface Section {
  title: string
  about: string
  /** A line for each page, by its path inside docs/: the question that it answers, and its readers. */
  pages: Record<string, string>
}

/** The pages that each kind of reader needs first, seven a role, in the order of reading. */
export const ROLES: Readonly<Record<string, readonly string[]>> = {
  'Integrate in an afternoon': [
    'guides/quick-start.md',
    'guides/step-up.md',
    'guides/hosted-page.md',
    'verdict.md',
    'errors.md',
    'guides/what-to-log.md',
    'guides/production.md',
  ],
  'Run it': [
    'operations/installation.md',
    'guides/production.md',
    'operations/monitoring.md',
    'operations/keys-and-backups.md',
    'upgrade-policy.md',
    'operations/disaster-recovery.md',
    'operations/support-desk.md',
  ],
  'Decide whether': [
    'what-a-face-check-proves.md',
    'accuracy.md',
    'how-it-fails.md',
    'threat-model.md',
    'guides/privacy.md',
    'guides/sizing.md',
    'faq.md',
  ],
}

export const SECTIONS: readonly Section[] = [
  {
    title: 'Tutorials',
    about: 'Lessons to follow from the first command to the last.',
    pages: {
      'guides/quick-start.md':
        'From a clone to a verified verdict in your own code. For developers who are new here.',
      'guides/curl.md': 'First calls with curl, and what they answer. For developers of any language.',
      'guides/step-up.md':
        'An Express application that protects a transfer on a page of its own: used verdicts, clocks, tests without a camera. For developers of a backend.',
      'guides/bank.md':
        'A transfer confirmed on the hosted page, in Fastify, Next.js or FastAPI. For developers of a backend.',
      'guides/two-nodes.md':
        'Two services on one PostgreSQL, also after SQLite, and what happens when one dies. For operators.',
      'examples/README.md': 'Complete programs in Node, Python, Go and shell. For developers.',
    },
  },
  {
    title: 'How-to guides',
    about: 'One task each, for somebody who knows what they want to do.',
    pages: {
      'guides/capture.md': 'A web component that takes captures in your page. For developers of a frontend.',
      'guides/hosted-page.md':
        'A page of the service that takes captures for you. For developers of a backend.',
      'guides/native-apps.md':
        'Ways from an app on iOS or Android to a verdict, and what was not tried. For developers of apps.',
      'guides/typed-actions.md':
        'Payments and other actions that the hosted page shows in its own words. For developers of a backend and auditors.',
      'guides/liveness.md':
        'Ask for movements of the head, and what that stops. For developers and security reviewers.',
      'guides/capture-integrity.md':
        'Signs of a replaced camera, and why they prove nothing. For developers and security reviewers.',
      'guides/what-to-log.md':
        'What to keep of each check, and what never to write down. For developers of a backend.',
      'guides/policy.md':
        'Say what an approval of an action needs, and have unused users erased. For developers and security reviewers.',
      'guides/passkeys.md':
        'Ask for a passkey together with the face. For developers of a backend and security reviewers.',
      'guides/webhooks.md': 'Receive events about users and captures. For developers of a backend.',
      'guides/public-verdicts.md':
        'Let a gateway, a partner or an auditor check verdicts without a secret. For developers of a backend.',
      'guides/openid.md':
        'Let an application or an identity provider ask for a verdict by OpenID Connect. For developers and operators.',
      'guides/openid-entra.md':
        'Let Microsoft Entra ID ask for a verdict as the second factor. For operators.',
      'guides/openid-okta.md': 'Let Okta ask for a face as a factor of its sign-in. For operators.',
      'guides/openid-auth0.md': 'Let an Action of Auth0 ask for a face. For operators of Auth0.',
      'guides/openid-ory.md': 'Let a login app of Ory Hydra ask for a face. For developers of a backend.',
      'guides/openid-keycloak.md':
        'Let Keycloak ask for a person by CIBA, without Java. For operators of Keycloak.',
      'guides/rotation.md': 'Replace a signing secret without downtime. For developers and operators.',
      'guides/api-keys.md':
        'Make, limit, rotate and end API keys, and what to do about a leak. For operators.',
      'guides/production.md': 'Go from sandbox to production. For the person who answers for the launch.',
      'guides/changing-models.md': 'Change the model pack while people go on verifying. For operators.',
      'guides/references-that-age.md':
        'Let references follow faces that age, within bounds. For operators and security reviewers.',
      'guides/kubernetes.md': 'From an empty cluster to a verdict. For operators.',
      'guides/air-gapped.md': 'Install where no network is. For operators.',
      'guides/accuracy.md':
        'Error rates and thresholds from your own photos or users. For the person who chooses the threshold.',
      'guides/shadow.md':
        'Try another pack, rate or quality bound on live verifies without any effect. For operators.',
      'guides/sizing.md': 'Choose a machine for your load. For operators.',
      'guides/gpu.md': 'Run the networks on a GPU, and what is known of it. For operators.',
      'guides/load-testing.md': 'Measure what your installation takes. For operators.',
      'guides/privacy.md':
        'What is kept, for how long, and how it is erased, also for users who left. For data protection officers.',
      'guides/dpia.md':
        'A template for the assessment of the impact on data protection. For data protection officers.',
      'troubleshooting.md':
        'From a symptom to its cause and a command: clocks, cameras, proxies and more. For operators and developers.',
      'operations.md': 'Files, configuration, start and stop, and where each other task is. For operators.',
      'operations/installation.md': 'Install with Docker, Kubernetes or systemd. For operators.',
      'operations/operators.md': 'Who may sign in to the dashboard, and how. For operators.',
      'operations/tenants.md':
        'Tenants, locked users, failed calls, the sandbox and fair shares. For operators.',
      'operations/keys-and-backups.md': 'Change the master key, back up and restore. For operators.',
      'operations/audit-log.md': 'Check that nobody changed the audit log. For operators and auditors.',
      'operations/monitoring.md': 'Addresses, metrics, logs and traces. For operators.',
      'operations/drift.md': 'Notice a camera or people that change, before users complain. For operators.',
      'operations/tls.md': 'Set up certificates, and renew them. For operators.',
      'operations/several-processes.md': 'Use all cores of a large machine. For operators.',
      'operations/runbooks.md': 'What to do about each alert. For the person on call.',
      'operations/disaster-recovery.md':
        'What is lost in each disaster, what brings it back, and how fast. For operators.',
      'operations/support-desk.md':
        'A customer is refused: from the request to the reason, and what to say. For support staff.',
      'migration.md': 'Move over from Rekognition, Azure Face or CompreFace. For developers and operators.',
    },
  },
  {
    title: 'Reference',
    about: 'Complete and exact, to look things up in.',
    pages: {
      'api-overview.md':
        'Every endpoint, and what all requests and answers share. For everyone who calls the API.',
      'errors.md':
        'Every error code of the API, with its status, its message and what to do. For everyone who calls the API.',
      'operator-errors.md':
        'Every error code of the command line and the dashboard, with what to do. For operators.',
      'verdict.md': 'Every claim of a verdict, and how to check it. For developers of a backend.',
      'sdk.md':
        'Every method, option and error of the SDK for TypeScript, and used verdicts shared between processes. For developers.',
      'sdk-python.md': 'A first program, every call and every error in Python. For developers.',
      'sdk-go.md': 'A first program, every call and every error in Go. For developers.',
      'commands.md': 'Every command, with its options. For operators.',
      'configuration.md': 'Every setting, with its default. For operators.',
      'postgresql.md': 'Several nodes on PostgreSQL: settings, guarantees, limits. For operators.',
      'reverse-proxies.md':
        'What nginx, HAProxy, Traefik or Envoy in front must do, with a configuration for each. For operators.',
      'model-packs.md':
        'The format of a model pack, and the packs that are known. For machine learning engineers.',
      'accuracy.md': 'What was measured, with intervals and data. For evaluators.',
      'benchmarks.md': 'What was timed, and how to repeat it. For performance engineers.',
      'supply-chain.md': 'Each dependency, why it is there, and how it is pinned. For security reviewers.',
      'evidence.md':
        'Have your installation judged by laws and standards, requirement by requirement. For auditors.',
      'upgrade-policy.md': 'What may change within a version, which Node, and for how long. For operators.',
    },
  },
  {
    title: 'Explanation',
    about: 'Why things are as they are.',
    pages: {
      'guides/concepts.md': 'Step-up, verdict, reference, threshold, and a glossary. For everyone.',
      'what-a-face-check-proves.md':
        'Photo, film, deepfake, twin, stolen phone: what stops which, and what is left. For everyone who decides.',
      'faq.md': 'Short answers to what people ask first. For everyone.',
      'how-it-fails.md':
        'Each kind of failure: what the caller sees, what is lost, what brings it back. For everyone.',
      'scale.md':
        'Nodes over PostgreSQL and clusters, with the figure that limits each step. For architects.',
      'threat-model.md': 'What is protected, by what, and what is left. For security reviewers.',
    },
  },
  {
    title: 'Internals',
    about: 'For contributors and evaluators: how the code is built, tested and released.',
    pages: {
      'architecture.md': 'Processes, rooms of the code, decisions. For contributors and reviewers.',
      'internals/request-lifecycle.md': 'The way of a request through the code. For contributors.',
      'internals/http-edge.md': 'What the listeners accept and refuse. For contributors and reviewers.',
      'internals/campaigns.md':
        'Long tests of faults, power cuts and hostile input. For evaluators and contributors.',
      'internals/laboratory.md':
        'What was measured once and what was tried, with dates and conditions. For performance engineers.',
      'internals/openid-conformance.md':
        'Which rules of the OpenID conformance plans hold, and which have no test. For security reviewers.',
      'internals/releasing.md': 'Make a release. For maintainers.',
    },
  },
]
