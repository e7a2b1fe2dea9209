/** Exports what the service keeps about one person (GDPR article 15): everything but the templates, which never leave it. */
import type { Actor, AuditedUnitOfWork } from '../audit/audited-unit-of-work.js'
import { type Clock, DAY_MS, isoTime, optionalTime } from '../lib/clock.js'
import { DomainError } from '../lib/domain-error.js'
import type { TenantRecord } from '../storage/records.js'
import type { Store } from '../storage/store.js'
import type { TemplateVault } from '../users/template-vault.js'
import type { TemplateRecord, Templates } from '../users/templates.js'
import type { UserAddress, UserOperations } from './user-operations.js'
import { consentTextView } from './user-views.js'

/** Entries of the audit log that are read at once: the API's callers wait for about a millisecond meanwhile. */
const PAGE = 100
/** Remembered captures that are counted at most; they are kept for a day. */
const MAX_CAPTURES = 10_000

export class ExportUser {
  constructor(
    private readonly parts: {
      store: Store
      audited: AuditedUnitOfWork
      users: Pick<UserOperations, 'find'>
      vault: TemplateVault
      clock: Clock
    },
  ) {}

  /**
   * Collects the facts. In production the audit log records the export. It reads the whole audit log of the tenant, page by page.
   * @throws DomainError reference_not_found
   */
  async run(tenant: TenantRecord, actor: Actor, address: UserAddress) {
    const { store, audited, users, vault, clock } = this.parts
    const { environment, userId } = address
    const blindIndex = vault.blindIndex(tenant.id, environment, userId)
    const [user, subject] = await Promise.all([
      users.find(tenant, address),
      vault.find(store.read, blindIndex, userId),
    ])
    if (!user || !subject) throw new DomainError('reference_not_found')
    const now = clock.now()
    const [captures, exported, texts, activity, entries] = await Promise.all([
      store.read.captureHistory(subject.record.id, [], now - DAY_MS, MAX_CAPTURES),
      store.read.exportOf(subject.record.id, subject.dataKey),
      store.read.ownConsentTextsOf(subject.record.id),
      store.read.activity(blindIndex),
      this.entriesOf(tenant.id, subject.pseudonym),
    ])
    const facts = { event: 'user_exported', subject: subject.pseudonym } as const
    await audited.record(tenant.id, actor, facts, { isAudited: environment === 'production' })
    return {
      exported_at: isoTime(now),
      tenant_id: tenant.id,
      environment,
      user,
      /** Captures of the last day, which are remembered to recognize replays; each is a vector and a digest. */
      remembered_captures: captures.newest.length,
      /** Templates of the user's face, by the model that made them; `aged` where captures of verifies were taken in. */
      templates: templatesOf(subject).map((template) => ({
        model: template.model,
        created_at: isoTime(template.createdAt),
        views: vault.describeReference(subject, template).photoCount,
        ...(template === subject.aged ? { aged: true } : {}),
      })),
      ...exported,
      /** Consent texts that capture sessions of the user brought as their own. */
      consent_texts: texts.map((text) => consentTextView(vault.openOwnConsent(subject, text))),
      last_used_at: optionalTime(activity?.usedAt ?? null),
      erasure_announced_at: optionalTime(activity?.noticeAt ?? null),
      /** Name of the user in the audit log. */
      audit_pseudonym: subject.pseudonym,
      audit_entries: entries,
    }
  }

  /** Entries of the audit log that name the user, oldest first. */
  private async entriesOf(tenantId: string, pseudonym: string): Promise<unknown[]> {
    const found: unknown[] = []
    for (let after = 0; ; ) {
      const page = await this.parts.store.read.auditEntries(tenantId, after, PAGE)
      for (const { entry } of page) if (entry.includes(pseudonym)) found.push(JSON.parse(entry))
      if (page.length < PAGE) return found
      after = page.at(-1)!.sequence
      // A long log must not keep the callers of a running service waiting.
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
}

function templatesOf({ reference, following, aged }: Templates): TemplateRecord[] {
  return reference ? [reference, ...following, ...(aged ? [aged] : [])] : []
}
