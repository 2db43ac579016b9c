import { z } from 'zod';
import { LIMITS } from '../../../../gen/limits/limits.js';
import {
  field,
  list,
  nullable,
  refuseTyped,
  shownText,
  text,
  withDefault,
  withExample,
} from '../../../contract/input/fields.js';
import { integer } from '../../../contract/input/numbers.js';
import { idCursor, pageSize } from '../../../contract/input/paging.js';
import type { InputsOf } from '../../../contract/input/parse-input.js';
import { isStorable } from '../../../storage/database/text.js';

const limits = LIMITS.MarkFalsePositiveRequest;
const listLimits = LIMITS.ListFalsePositivesRequest;
const { max: MAX_NOTE_LENGTH } = limits.note;

const note = field<string>((value, sink) => {
  const read = typeof value === 'string' ? value.trim() : '';
  if (read !== '' && read.length <= MAX_NOTE_LENGTH && isStorable(read)) return read;
  const rule = `must be a text of 1 to ${MAX_NOTE_LENGTH} characters, without NUL and halves of surrogate pairs`;
  return refuseTyped(sink, 'value_error', rule, value);
}, shownText(limits.note));

const executionId = () => text(limits.control_execution_id);

/** Events of halts have no control, but the number 0. */
const controlId = () => integer({ ...limits.control_id, max: 2 ** 31 - 1 });

const match = { control_execution_id: executionId(), control_id: controlId() };

/** Input schemas of the RPCs about false positives. */
export const MARK_SCHEMAS = {
  markFalsePositive: withExample(z.object({ ...match, note: nullable(note) }), {
    control_execution_id: '5f0c7a52-9d0b-4a57-8e0a-5d7d3c0f1b11',
    control_id: 1,
    note: 'a number of an order, not of a card',
  }),
  unmarkFalsePositive: z.object(match),
  listFalsePositives: z.object({
    cursor: idCursor,
    limit: pageSize(listLimits.limit, 100),
    control_id: nullable(controlId()),
    control_execution_ids: withDefault(list(executionId(), listLimits.control_execution_ids), []),
    days: nullable(integer(listLimits.days)),
  }),
};

/** Outputs of these schemas, by RPC. */
export type MarkInputs = InputsOf<typeof MARK_SCHEMAS>;
