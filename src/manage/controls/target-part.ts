import type { z } from 'zod';
import { LIMITS } from '../../../gen/limits/limits.js';
import { report, text } from '../../contract/input/fields.js';
import { isStorable } from '../../storage/database/text.js';

/** Type or id of a target that is stored. */
export const targetPart = (): z.ZodType<string> =>
  text(LIMITS.CreateControlBindingRequest.target_type).superRefine((value, sink) => {
    if (!isStorable(value))
      report(sink, 'value_error', 'must have no NUL character and no half surrogate', null);
  });
