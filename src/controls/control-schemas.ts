import { z } from 'zod';
import { boolean, list, nullable, oneOf, text, withDefault, withExample } from '../contract/input/fields.js';
import { ifVersion } from '../contract/input/if-version.js';
import { slugName } from '../contract/input/names.js';
import { integer } from '../contract/input/numbers.js';
import { strictFlag } from '../contract/input/parse-input.js';
import type { EvaluatorRegistry } from '../core/evaluator.js';
import { DECISIONS, EXECUTIONS, STAGES } from '../core/types.js';
import { createControlDataSchema } from './control-data.js';
import { CONTROL_ORDERS } from './control-filters.js';

/** Controls, or versions of one, per page. */
const PAGE_SIZE = { min: 1, max: 100, default: 20 } as const;

/** Longest step name of a filter: patterns are searched in it. */
const MAX_STEP_NAME_LENGTH = 1_024;

/** Any integer: a number that is no control id, 0 or beyond 32 bits included, is simply not found. */
const controlId = integer();
/** The same for the number of a version. */
const versionNum = integer();

/** Whether warnings about the written data are rejected. */
const strict = strictFlag();

/** Clamps a cursor to the 32 bits of ids and version numbers, with which it is compared. */
function within32Bits(cursor: number): number {
  return Math.min(Math.max(cursor, -(2 ** 31)), 2 ** 31 - 1);
}

/** An example of the OpenAPI document. */
const EXAMPLE = {
  execution: 'server',
  scope: { step_types: ['tool'], stages: ['pre'] },
  condition: {
    selector: { path: 'input.text' },
    evaluator: { name: 'regex', config: { pattern: '\\b\\d{16}\\b' } },
  },
  action: { decision: 'deny' },
};

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
    listControls: z.object({
      cursor: nullable(integer().transform(within32Bits)),
      limit: withDefault(integer(PAGE_SIZE), PAGE_SIZE.default),
      name: nullable(text()),
      enabled: nullable(boolean()),
      template_backed: nullable(boolean()),
      step_type: nullable(text()),
      stage: nullable(text()),
      execution: nullable(text()),
      tag: nullable(text()),
      stage_filter: nullable(oneOf(STAGES)),
      execution_filter: nullable(oneOf(EXECUTIONS)),
      has_agents: nullable(boolean()),
      decisions: nullable(list(oneOf(DECISIONS), { max: DECISIONS.length })).transform(
        (words) => words ?? [],
      ),
      agent_name: nullable(text()),
      order_by: nullable(oneOf(CONTROL_ORDERS, 'enum')),
      reverse: nullable(boolean()),
      step_name: nullable(text({ max: MAX_STEP_NAME_LENGTH })),
    }),
    validateControl: withExample(z.object({ data, strict }), { data: EXAMPLE }),
    getControl: z.object({ control_id: controlId }),
    updateControl: withExample(
      z.object({
        control_id: controlId,
        name: nullable(slugName()),
        enabled: nullable(boolean()),
        strict,
        if_version: ifVersion(),
      }),
      { enabled: false },
    ),
    deleteControl: z.object({
      control_id: controlId,
      force: withDefault(boolean(), false),
      if_version: ifVersion(),
    }),
    listControlAgents: z.object({
      control_id: controlId,
      cursor: nullable(text()),
      limit: withDefault(integer(PAGE_SIZE), PAGE_SIZE.default),
    }),
    listControlPolicies: z.object({
      control_id: controlId,
      cursor: nullable(integer().transform(within32Bits)),
      limit: withDefault(integer(PAGE_SIZE), PAGE_SIZE.default),
    }),
    listControlVersions: z.object({
      control_id: controlId,
      cursor: nullable(integer().transform(within32Bits)),
      limit: withDefault(integer(PAGE_SIZE), PAGE_SIZE.default),
    }),
    getControlVersion: z.object({ control_id: controlId, version_num: versionNum }),
    restoreControlVersion: z.object({
      control_id: controlId,
      version_num: versionNum,
      if_version: ifVersion(),
    }),
    getControlData: z.object({ control_id: controlId }),
    setControlData: withExample(z.object({ control_id: controlId, data, strict, if_version: ifVersion() }), {
      data: EXAMPLE,
    }),
  };
}
