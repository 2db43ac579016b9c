import { z } from 'zod';
import { LIMITS } from '../../../gen/limits/limits.js';
import { Decimal, isNumber } from '../../../packages/exact-json/src/index.js';
import { field, nullable, refuse, text, withExample } from '../../contract/input/fields.js';
import { integer, position } from '../../contract/input/numbers.js';
import { pageSize } from '../../contract/input/paging.js';
import type { InputsOf } from '../../contract/input/parse-input.js';
import { readTime } from '../events/store/event-time.js';

/** A time in milliseconds since 1970, rounded up or down, because entries have whole milliseconds. */
const time = (round: 'up' | 'down') =>
  field<number>(
    (value, sink) => {
      const given = value instanceof Decimal ? value.toNumber() : value;
      const read = typeof given === 'string' || isNumber(given) ? readTime(given) : undefined;
      if (read === undefined) return refuse(sink, 'datetime_from_date_parsing', 'must be a time', value);
      const ms = Number(read.us) / 1_000;
      return round === 'up' ? Math.ceil(ms) : Math.floor(ms);
    },
    { type: 'string', format: 'date-time' },
  );

/** Clamps a cursor to exact integers, with which it is compared. */
function withinPositions(cursor: number): number {
  return Math.min(Math.max(cursor, 0), Number.MAX_SAFE_INTEGER);
}

const filters = {
  start_time: nullable(time('up')),
  end_time: nullable(time('down')),
  actor: nullable(text()),
  action: nullable(text()),
  resource: nullable(text()),
  resource_id: nullable(text()),
  min_revision: nullable(position),
  max_revision: nullable(position),
  request_id: nullable(text()),
};

/** Part of a text that is searched for. */
const part = nullable(text(LIMITS.ListAuditEntriesRequest.actor_contains));
const parts = { actor_contains: part, action_contains: part, resource_contains: part };

/** Input schemas of AuditService, by RPC. Members are in the order of the messages. */
export const auditSchemas = {
  listAuditEntries: z.object({
    ...filters,
    cursor: nullable(integer().transform(withinPositions)),
    limit: pageSize(),
    ...parts,
  }),
  exportAuditEntries: withExample(z.object({ ...filters, ...parts }), {
    resource: 'control',
    action: 'control.create',
  }),
  verifyAudit: z.object({ after_position: nullable(position) }),
};

/** Outputs of the schemas of AuditService, by RPC. */
export type AuditInputs = InputsOf<typeof auditSchemas>;
