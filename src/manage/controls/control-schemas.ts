import { z } from 'zod';
import { LIMITS } from '../../../gen/limits/limits.js';
import {
  boolean,
  flag,
  listOrNone,
  nullable,
  oneOf,
  report,
  text,
  withDefault,
  withExample,
} from '../../contract/input/fields.js';
import { ifVersion } from '../../contract/input/if-version.js';
import { described } from '../../contract/input/messages.js';
import { slugName } from '../../contract/input/names.js';
import { integer, rowId } from '../../contract/input/numbers.js';
import { idPage, textPage } from '../../contract/input/paging.js';
import type { EvaluatorRegistry } from '../../kernel/core/evaluator.js';
import { DECISIONS, EXECUTIONS, STAGES } from '../../kernel/core/types.js';
import { idempotencyKey } from '../../storage/database/idempotency.js';
import { createControlDataSchema, exampleData } from './control-data.js';
import { CONTROL_ORDERS } from './control-filters.js';
import { scopeSchema, selectorPath } from './definition/definition-members.js';
import { targetPart } from './target-part.js';

/** Whether warnings about the written data are rejected. */
const strict = flag();

/** An example of the OpenAPI document. */
const EXAMPLE = exampleData('\\b\\d{16}\\b', { step_types: ['tool'], stages: ['pre'] });

/**
 * Input schemas of ControlService, by RPC. Members are in the order of the messages, and values of paths and
 * queries may be text.
 */
export function createControlSchemas(registry: EvaluatorRegistry) {
  const data = createControlDataSchema(registry);
  return {
    createControl: withExample(z.object({ name: slugName(), data, strict }), {
      name: 'no-card-numbers',
      data: EXAMPLE,
    }),
    listControls: z
      .object({
        ...idPage,
        name: nullable(text()),
        enabled: nullable(boolean()),
        template_backed: nullable(boolean()),
        cloned: nullable(boolean()),
        step_type: nullable(text()),
        stage: nullable(text()),
        execution: nullable(text()),
        tag: nullable(text()),
        stage_filter: nullable(oneOf(STAGES)),
        execution_filter: nullable(oneOf(EXECUTIONS)),
        has_agents: nullable(boolean()),
        decisions: listOrNone(oneOf(DECISIONS), { max: DECISIONS.length }),
        agent_name: nullable(text()),
        order_by: nullable(oneOf(CONTROL_ORDERS, 'enum')),
        reverse: nullable(boolean()),
        step_name: nullable(text(LIMITS.ListControlsRequest.step_name)),
        include_attachments: nullable(boolean()),
        attachment_target_type: nullable(text(LIMITS.ListControlsRequest.attachment_target_type)),
        attachment_target_id: nullable(text(LIMITS.ListControlsRequest.attachment_target_id)),
      })
      .superRefine(({ include_attachments: included, ...others }, sink) => {
        if (included === true) return;
        for (const member of ['attachment_target_type', 'attachment_target_id'] as const) {
          const value = others[member];
          if (value === undefined) continue;
          report(sink, 'value_error', 'requires include_attachments', value, [member]);
        }
      }),
    inspectExpression: withExample(
      z.object({
        // Messages do not tell an empty text from none. One longer than is accepted has a problem like any other.
        expression: withDefault(text(LIMITS.InspectExpressionRequest.expression), ''),
        cursor: nullable(integer(LIMITS.InspectExpressionRequest.cursor)),
        scope: nullable(scopeSchema),
        selector_path: nullable(selectorPath),
      }),
      { expression: "input.amount > 1000 && !input.to.endsWith('@example.com')", cursor: 6 },
    ),
    validateControl: withExample(z.object({ data, strict, control_id: nullable(rowId) }), {
      data: EXAMPLE,
    }),
    getControl: z.object({ control_id: rowId }),
    updateControl: withExample(
      z.object({
        control_id: rowId,
        name: nullable(slugName()),
        enabled: nullable(boolean()),
        strict,
        if_version: ifVersion(),
      }),
      { enabled: false },
    ),
    deleteControl: z.object({
      control_id: rowId,
      force: withDefault(boolean(), false),
      if_version: ifVersion(),
    }),
    cloneAndBindControl: withExample(
      z.object({
        control_id: rowId,
        name: nullable(slugName()),
        target_binding: z.object(
          { target_type: targetPart(), target_id: targetPart(), enabled: withDefault(boolean(), true) },
          described('an object with target_type and target_id'),
        ),
        idempotency_key: nullable(idempotencyKey()),
      }),
      { target_binding: { target_type: 'project', target_id: 'billing' } },
    ),
    listControlAgents: z.object({ control_id: rowId, ...textPage }),
    listControlPolicies: z.object({ control_id: rowId, ...idPage }),
    listControlVersions: z.object({ control_id: rowId, ...idPage }),
    getControlVersion: z.object({ control_id: rowId, version_num: rowId }),
    restoreControlVersion: z.object({
      control_id: rowId,
      version_num: rowId,
      if_version: ifVersion(),
    }),
    getControlData: z.object({ control_id: rowId }),
    setControlData: withExample(z.object({ control_id: rowId, data, strict, if_version: ifVersion() }), {
      data: EXAMPLE,
    }),
  };
}
