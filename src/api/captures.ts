/** Takes the pictures of a verify or an enrollment, from photos or from a field of a feature, and holds them to the liveness that is demanded. */
import type { LivenessRequirement } from '../config/liveness-requirement.js'
import { DomainError } from '../lib/domain-error.js'
import type { Call, CaptureInput, UserCall } from '../verification/call.js'
import { decodeImages, type Pictures } from '../verification/capture/images.js'
import { missingLiveness, strictest } from '../verification/liveness.js'
import { decidingProvider } from '../verification/references/deciding-model.js'
import type { CapturePart, CapturePurpose, OpenedCapture } from './call-parts.js'
import type { Services } from './services.js'

export class Captures {
  private readonly fields: ReadonlyArray<CapturePart['field']>
  private readonly openers: ReadonlyMap<CapturePart['field'], ReturnType<CapturePart['create']>>

  /** @param parts the fields of features */
  constructor(
    private readonly services: Services,
    parts: readonly CapturePart[],
  ) {
    this.fields = parts.map(({ field }) => field)
    this.openers = new Map(parts.map((part) => [part.field, part.create(services)]))
  }

  /** @throws DomainError invalid_request */
  decode(input: object): Promise<Pictures> {
    return decodeImages(input, this.fields)
  }

  /**
   * Opens what the pictures were captured for. @returns null for photos
   * @throws DomainError of the part; liveness_required, liveness_unavailable
   */
  async open(
    call: UserCall<CaptureInput>,
    { field }: Pictures,
    purpose: CapturePurpose,
  ): Promise<OpenedCapture | null> {
    const opened = (await this.openers.get(field)?.(call, purpose)) ?? null
    assertLivenessOffered(this.services, call, Boolean(opened?.film.method))
    return opened
  }
}

/**
 * Checks that the request offers the liveness checks that installation, tenant and caller demand.
 * @param active whether the capture shows movements that were asked for
 * @throws DomainError liveness_required, liveness_unavailable
 */
export function assertLivenessOffered(
  { config, provider }: Pick<Services, 'config' | 'provider'>,
  { input, tenant }: Pick<Call<{ require_liveness?: LivenessRequirement }>, 'input' | 'tenant'>,
  active: boolean,
): void {
  const requirement = strictest(
    config.requireLiveness,
    tenant.requireLiveness ?? 'none',
    input.require_liveness ?? 'none',
  )
  const { passiveLiveness } = decidingProvider(provider, tenant)
  const missing = missingLiveness(requirement, { passive: passiveLiveness !== null, active })
  if (missing === 'passive') throw new DomainError('liveness_unavailable')
  if (missing === 'active') throw new DomainError('liveness_required')
}
