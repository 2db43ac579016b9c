import { z } from 'zod';
import { isObject, type JsonValue } from '../../../packages/exact-json/src/index.js';
import { list, nullable, oneOf, report, withExample } from '../../contract/input/fields.js';
import { FIELD_REQUIRED } from '../../contract/input/messages.js';
import { agentName } from '../../contract/input/names.js';
import { integer, position } from '../../contract/input/numbers.js';
import { checkTarget, targetMembers } from '../../contract/input/target.js';
import {
  EXAMPLE_EVALUATION,
  FAILED_BEFORE,
  stepSchema,
  stepText,
} from '../../decide/decisions/evaluate-request.js';
import { optionMembers } from '../../decide/decisions/evaluation-options.js';
import type { EvaluatorRegistry } from '../../kernel/core/evaluator.js';
import { STAGES } from '../../kernel/core/types.js';
import { createControlDataSchema } from '../../manage/controls/control-data.js';

/** Most controls explained by one call: enough for an agent, and the reply stays at some megabytes. */
export const MAX_EXPLAINED_CONTROLS = 1_000;

/** The input of Explain, members in the order of the message. */
export function createExplainSchema(registry: EvaluatorRegistry) {
  const schema = z
    .object({
      agent_name: nullable(agentName()),
      stage: oneOf(STAGES),
      step: stepSchema.optional(),
      control_ids: nullable(list(integer())),
      data: nullable(createControlDataSchema(registry)),
      step_json: nullable(stepText()),
      min_revision: nullable(position),
      ...targetMembers,
      session_id: optionMembers.session_id,
      step_id: optionMembers.step_id,
      step_error: optionMembers.step_error,
    })
    // Also if other members are invalid, so that every missing member is named at once.
    .refine(({ step, step_json }) => step !== undefined || step_json !== undefined, {
      path: ['step'],
      message: FIELD_REQUIRED,
      params: { code: 'missing' },
      when: ({ value }) => isObject(value as JsonValue),
    })
    .superRefine(checkTarget)
    .superRefine(({ stage, step_error }, sink) => {
      if (stage === 'pre' && step_error !== undefined)
        report(sink, 'value_error', FAILED_BEFORE, null, ['step_error']);
    })
    .superRefine(
      ({ agent_name, step, step_json, control_ids: ids = [], data, min_revision, target_type }, sink) => {
        if (step !== undefined && step_json !== undefined) {
          report(sink, 'value_error', 'must not stand beside step', null, ['step_json']);
        }
        if (agent_name === undefined && data === undefined) {
          report(sink, 'missing', 'Field required: agent_name is needed when there are no data', undefined, [
            'agent_name',
          ]);
        }
        if (ids.length > 0 && data !== undefined) {
          report(sink, 'value_error', 'must not stand beside data', ids.length, ['control_ids']);
        }
        if (min_revision !== undefined && data !== undefined) {
          report(sink, 'value_error', 'must not stand beside data', min_revision, ['min_revision']);
        }
        if (target_type !== undefined && data !== undefined) {
          report(sink, 'value_error', 'must not stand beside data', target_type, ['target_type']);
        }
        if (ids.length > MAX_EXPLAINED_CONTROLS) {
          const rule = `must have at most ${MAX_EXPLAINED_CONTROLS} items`;
          report(sink, 'too_long', rule, ids.length, ['control_ids']);
        }
      },
    );
  return withExample(schema, EXAMPLE_EVALUATION);
}

/** Output of the schema of Explain. */
export type ExplainInput = z.output<ReturnType<typeof createExplainSchema>>;
