import { z } from 'zod';
import { LIMITS } from '../../../gen/limits/limits.js';
import { flag, oneOf, withDefault, withExample } from '../../contract/input/fields.js';
import { number, rowId } from '../../contract/input/numbers.js';
import type { InputsOf } from '../../contract/input/parse-input.js';
import type { EvaluatorRegistry } from '../../kernel/core/evaluator.js';
import { createControlDataSchema, exampleData } from '../../manage/controls/control-data.js';
import { SHADOW_SHARES } from './shadow.js';

/** Input schemas of ShadowService, by RPC. Members are in the order of the messages. */
export function createShadowSchemas(registry: EvaluatorRegistry) {
  return {
    setShadow: withExample(
      z.object({
        control_id: rowId,
        data: createControlDataSchema(registry),
        share: withDefault(number(LIMITS.SetShadowRequest.share), 1),
        share_by: withDefault(oneOf(SHADOW_SHARES), 'agent'),
        strict: flag(),
      }),
      {
        data: exampleData('\\b\\d{13,16}\\b', { step_types: ['tool'], stages: ['pre'] }),
        share: 0.1,
        share_by: 'session',
      },
    ),
    getShadow: z.object({ control_id: rowId }),
    listShadows: z.object({}),
    promoteShadow: withExample(z.object({ control_id: rowId, shadow_version: rowId }), {
      shadow_version: 1,
    }),
    dropShadow: z.object({ control_id: rowId }),
  };
}

/** Outputs of these schemas, by RPC. */
export type ShadowInputs = InputsOf<ReturnType<typeof createShadowSchemas>>;
