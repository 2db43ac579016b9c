import { z } from 'zod';
import { LIMITS } from '../../../gen/limits/limits.js';
import { boolean, nullable, withDefault, withExample } from '../../contract/input/fields.js';
import { integer, rowId } from '../../contract/input/numbers.js';
import { textPage } from '../../contract/input/paging.js';
import type { InputsOf } from '../../contract/input/parse-input.js';
import { targetMembers } from '../../contract/input/target.js';
import { targetPart } from '../controls/target-part.js';

/** A number beyond 32 bits is no id, and not found. */
const controlId = integer({
  ...LIMITS.CreateControlBindingRequest.control_id,
  max: Number.MAX_SAFE_INTEGER,
});

const byKey = { target_type: targetPart(), target_id: targetPart(), control_id: controlId };
const newBinding = z.object({ ...byKey, enabled: withDefault(boolean(), true) });
const EXAMPLE = { target_type: 'project', target_id: 'billing', control_id: 1 };

/** Input schemas of ControlBindingService, by RPC. Members are in the order of the messages. */
export const bindingSchemas = {
  createControlBinding: withExample(newBinding, EXAMPLE),
  listControlBindings: z.object({
    ...textPage,
    ...targetMembers,
    control_id: nullable(controlId),
  }),
  upsertControlBinding: withExample(z.object(newBinding.shape), { ...EXAMPLE, enabled: true }),
  updateControlBindingByKey: withExample(z.object({ ...byKey, enabled: boolean() }), {
    ...EXAMPLE,
    enabled: false,
  }),
  deleteControlBindingByKey: withExample(z.object(byKey), EXAMPLE),
  getControlBinding: z.object({ binding_id: rowId }),
  updateControlBinding: withExample(z.object({ binding_id: rowId, enabled: boolean() }), {
    enabled: false,
  }),
  deleteControlBinding: z.object({ binding_id: rowId }),
};

/** Outputs of these schemas, by RPC. */
export type BindingInputs = InputsOf<typeof bindingSchemas>;
