/** `npm audit` of what runs in production, as a verdict. */
import { execFile } from 'node:child_process'
import { packageFile } from '../../src/lib/package-root.js'

export type Audit =
  | { answered: true; severe: string[]; counts: Record<string, number> }
  /** Some registries and mirrors have no advisories. */
  | { answered: false; reason: string }

const SEVERE = ['high', 'critical']

interface Report {
  vulnerabilities?: Record<string, { name: string; severity: string; range: string }>
  metadata?: { vulnerabilities: Record<string, number> }
  message?: string
}

/** @param options more of npm's, such as another registry */
export async function audit(options: string[] = []): Promise<Audit> {
  const report = await runNpm(options)
  const { vulnerabilities, metadata } = report
  if (!vulnerabilities || !metadata) return { answered: false, reason: withoutAddress(report.message) }
  return {
    answered: true,
    counts: metadata.vulnerabilities,
    severe: Object.values(vulnerabilities)
      .filter(({ severity }) => SEVERE.includes(severity))
      .map(({ name, severity, range }) => `${name} ${range} (${severity})`),
  }
}

function runNpm(options: string[]): Promise<Report> {
  // One more attempt, not npm's minutes of them: without an answer the check says so.
  const parameters = [
    'audit',
    '--omit=dev',
    '--json',
    '--fetch-retries=1',
    '--fetch-timeout=20000',
    ...options,
  ]
  return new Promise((resolve, reject) => {
    // npm ends with 1 for any finding and for no answer alike; what it prints tells them apart.
    execFile(
      'npm',
      parameters,
      { cwd: packageFile(), shell: process.platform === 'win32', maxBuffer: 1 << 26 },
      (error, stdout) => {
        try {
          resolve(JSON.parse(stdout) as Report)
        } catch {
          reject(error ?? new Error('npm audit printed no JSON'))
        }
      },
    )
  })
}

/** Which registry is configured is nobody's business in a log. */
function withoutAddress(message = 'no answer'): string {
  return message.replace(/\s*(- \w+ )?(to )?https?:\/\/\S+/g, '').trim()
}
