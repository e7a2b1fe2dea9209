/** Verdict of `npm audit` on the packages that run in production. */
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

/** @param options further options of npm, such as another registry */
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
  // Only one more attempt, since npm's own take minutes: without an answer the check reports that.
  const parameters = [
    'audit',
    '--omit=dev',
    '--json',
    '--fetch-retries=1',
    '--fetch-timeout=20000',
    ...options,
  ]
  return new Promise((resolve, reject) => {
    // npm exits with 1 both for findings and for no answer; its output distinguishes them.
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

/** The configured registry is private and must not appear in a log. */
function withoutAddress(message = 'no answer'): string {
  return message.replace(/\s*(- \w+ )?(to )?https?:\/\/\S+/g, '').trim()
}
