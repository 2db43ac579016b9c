import type { z } from 'zod';
import { report, text } from '../../contract/input/fields.js';
import { MAX_TARGET_LENGTH } from '../../contract/input/target.js';
import { isStorable } from '../../storage/database/text.js';

/** Type or id of a target that is stored. */
export const targetPart = (): z.ZodType<string> =>
  text({ min: 1, max: MAX_TARGET_LENGTH }).superRefine((value, sink) => {
    if (!isStorable(value))
      report(sink, 'value_error', 'must have no NUL character and no half surrogate', null);
  });
