import { z } from 'zod';
import { flag, oneOf, report, withDefault, withExample } from '../../contract/input/fields.js';
import { integer, number } from '../../contract/input/numbers.js';
import type { EvaluatorRegistry } from '../../kernel/core/evaluator.js';
import { createControlDataSchema } from '../../manage/controls/control-data.js';
import { SHADOW_SHARES } from './shadow.js';

/** Any integer: a number that is no id is not found. */
const controlId = integer();

const share = () =>
  withDefault(number({ max: 1 }), 1).superRefine((value, sink) => {
    if (!(value > 0)) report(sink, 'greater_than', 'must be greater than 0', value);
  });

/** Input schemas of ShadowService, by RPC. Members are in the order of the messages. */
export function createShadowSchemas(registry: EvaluatorRegistry) {
  return {
    setShadow: withExample(
      z.object({
        control_id: controlId,
        data: createControlDataSchema(registry),
        share: share(),
        share_by: withDefault(oneOf(SHADOW_SHARES), 'agent'),
        strict: flag(),
      }),
      {
        data: {
          execution: 'server',
          scope: { step_types: ['tool'], stages: ['pre'] },
          condition: {
            selector: { path: 'input.text' },
            evaluator: { name: 'regex', config: { pattern: '\\b\\d{13,16}\\b' } },
          },
          action: { decision: 'deny' },
        },
        share: 0.1,
        share_by: 'session',
      },
    ),
    getShadow: z.object({ control_id: controlId }),
    listShadows: z.object({}),
    promoteShadow: withExample(z.object({ control_id: controlId, shadow_version: integer() }), {
      shadow_version: 1,
    }),
    dropShadow: z.object({ control_id: controlId }),
  };
}

/** Outputs of these schemas, by RPC. */
export type ShadowInputs = {
  [Rpc in keyof ReturnType<typeof createShadowSchemas>]: z.output<
    ReturnType<typeof createShadowSchemas>[Rpc]
  >;
};
