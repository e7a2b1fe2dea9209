/** References that age. */
import { bytes, declareTable, integer, type Row, text } from '../table.js'

/**
 * A template that a reference has become by captures that were taken in after strong matches. The reference itself stays as it was enrolled;
 * the aged template is deleted with it. Each capture that is taken in replaces the record by one with another id.
 */
export const AGED_REFERENCE = declareTable({
  name: 'aged_reference',
  columns: {
    id: text,
    referenceId: text.with('UNIQUE REFERENCES reference (id) ON DELETE CASCADE'),
    /** Id of the model pack that made the reference and the captures. The template is of no use next to a reference of another model. */
    model: text,
    sealed: bytes,
    /** When a capture was taken in last. */
    createdAt: integer,
  },
  key: ['id'],
  atErasure: 'deleted',
  countedAs: 'references',
  atTenantEnd: 'kept',
  expires: null,
  sealedUnder: 'data key',
})
export type AgedReferenceRecord = Row<typeof AGED_REFERENCE>
