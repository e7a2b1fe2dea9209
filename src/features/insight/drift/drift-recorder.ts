/** Counts the verifies of each tenant in production. A verify costs the increment of four numbers in memory. */
import { SECOND_MS } from '../../../lib/clock.js'
import type { TenantRecord } from '../../../storage/records.js'
import type { StoreTransaction } from '../../../storage/store.js'
import { addCounts } from '../histogram.js'
import { type RecorderParts, type Rows, TenantRecorder } from '../tenant-recorder.js'
import { type CountedRequest, countVerify, isCounted, noDriftCounts } from './drift-counts.js'
import { type CountedPeriod, startOfPeriod } from './drift-report.js'
import { addToRow } from './drift-rows.js'
import type { ServedModels } from './drift-view.js'

interface Row extends CountedPeriod {
  /** Null for pictures that were refused: they have no model yet. */
  model: string | null
}

/** Pictures that were refused count as judged by the model that decides for the tenant. */
type DriftRecorderParts = RecorderParts & Pick<ServedModels, 'modelOf'>

export class DriftRecorder extends TenantRecorder<Row> {
  constructor(private readonly parts: DriftRecorderParts) {
    super(parts, { everyMs: 15 * SECOND_MS, failure: 'the latest verifications could not be counted' })
  }

  readonly observe = (request: CountedRequest): void => {
    const { tenantId, model = null } = request
    if (tenantId === undefined || !isCounted(request)) return
    const at = this.parts.clock.now()
    const fresh = () => ({ model, at, counts: noDriftCounts() })
    countVerify(this.rowOf(tenantId, `${model} ${startOfPeriod(at)}`, fresh).counts, request)
  }

  protected add(sum: Row, part: Row): void {
    addCounts(sum.counts, part.counts)
  }

  protected async write(tx: StoreTransaction, tenant: TenantRecord, rows: Rows<Row>): Promise<void> {
    for (const { model, ...counted } of rows.values())
      await addToRow(tx, { tenantId: tenant.id, model: model ?? this.parts.modelOf(tenant) }, counted)
  }
}
