import { z } from 'zod';
import { LIMITS } from '../../../gen/limits/limits.js';
import { type JsonValue, parseStoredJson } from '../../../packages/exact-json/src/index.js';
import type { ErrorItem } from '../../contract/errors/service-error.js';
import {
  boolean,
  flag,
  freeObject,
  list,
  nullable,
  oneOf,
  orNull,
  text,
  withDefault,
  withExample,
} from '../../contract/input/fields.js';
import { ifVersion } from '../../contract/input/if-version.js';
import { described } from '../../contract/input/messages.js';
import { agentName, unreadAgentName } from '../../contract/input/names.js';
import { integer, type NumberLimits, position, rowId } from '../../contract/input/numbers.js';
import { type InputsOf, inputItems } from '../../contract/input/parse-input.js';
import { checkTarget, targetMembers } from '../../contract/input/target.js';
import { STEP_SCHEMA_WORDS } from '../../decide/agent-state/step-schema-setting.js';
import { AGENT_ORDERS } from './agent-page.js';
import type {
  AgentProfile,
  AgentRegistration,
  EvaluatorRegistration,
  StepDefinition,
} from './agent-registration.js';
import { labelFilter } from './label-fields.js';

/** Agents or evaluators per page; other sizes are clamped, which deployed clients rely on. */
const PAGE_SIZE = { min: 1, max: 100, default: 20 } as const;

const MAX_INT32 = 2 ** 31 - 1;
/** The position of a page of controls is the last id of the one before. */
const CONTROL_ID = { min: 1, max: MAX_INT32 } as const;

const agent: z.ZodType<AgentProfile> = z.object(
  {
    agent_name: agentName(),
    agent_description: orNull(text()),
    agent_created_at: orNull(text()),
    agent_updated_at: orNull(text()),
    agent_version: orNull(text()),
    agent_metadata: orNull(freeObject()),
  },
  described('an object such as {"agent_name": "billing-bot-01"}'),
);

const step: z.ZodType<StepDefinition> = z.object(
  {
    type: text(LIMITS.StepDefinition.type),
    name: text(LIMITS.StepDefinition.name),
    description: orNull(text()),
    input_schema: orNull(freeObject()),
    output_schema: orNull(freeObject()),
    metadata: orNull(freeObject()),
  },
  described('an object with type and name'),
);

const evaluator: z.ZodType<EvaluatorRegistration> = z.object(
  {
    name: text(LIMITS.EvaluatorRegistration.name),
    config_schema: withDefault(freeObject(), {}),
    description: orNull(text(LIMITS.EvaluatorRegistration.description)),
  },
  described('an object with name'),
);

const registration = {
  agent,
  steps: withDefault(list(step), []),
  evaluators: withDefault(list(evaluator), []),
};

const storedRegistration: z.ZodType<AgentRegistration> = z.object(registration);

const pageSize = withDefault(integer(), PAGE_SIZE.default).transform((limit) =>
  Math.min(Math.max(limit, PAGE_SIZE.min), PAGE_SIZE.max),
);
/** Size that a client accepts: with less, nothing but errors would fit. */
const messageBytes = (limits: NumberLimits) => integer({ ...limits, max: MAX_INT32 });
const stateFilter = <const T extends string>(...states: T[]): z.ZodType<T | 'all'> =>
  withDefault(oneOf([...states, 'all']), 'all');

/**
 * Input schemas of AgentService, by RPC. Members are in the order of the messages, path members first, and
 * values of paths and queries may be text.
 */
export const agentSchemas = {
  listAgents: z.object({
    cursor: nullable(text()),
    limit: pageSize,
    name: nullable(text()),
    has_active_controls: nullable(boolean()),
    labels: labelFilter(),
    control_id: nullable(rowId),
    policy_id: nullable(rowId),
    order_by: nullable(oneOf(AGENT_ORDERS, 'enum')),
    reverse: nullable(boolean()),
  }),
  listAgentLabels: z.object({}),
  initAgent: withExample(
    z
      .object({
        ...registration,
        force_replace: withDefault(boolean(), false),
        conflict_mode: withDefault(oneOf(['strict', 'overwrite'], 'enum'), 'strict'),
        ...targetMembers,
        omit_controls: flag(),
        if_version: ifVersion(),
      })
      .superRefine(checkTarget),
    {
      agent: { agent_name: 'billing-bot-01', agent_description: 'Answers questions about invoices.' },
      steps: [{ type: 'tool', name: 'send_email', input_schema: { type: 'object' } }],
      evaluators: [
        { name: 'tone-check', description: 'Tells how a text sounds.', config_schema: { type: 'object' } },
      ],
    },
  ),
  getAgent: z.object({ agent_name: unreadAgentName }),
  updateAgent: withExample(
    z.object({
      agent_name: unreadAgentName,
      remove_steps: withDefault(
        list(
          z.object(
            { type: text(LIMITS.StepKey.type), name: text() },
            described('an object with type and name'),
          ),
        ),
        [],
      ),
      remove_evaluators: withDefault(list(text()), []),
      strict: flag(),
      if_version: ifVersion(),
      step_schemas: nullable(oneOf(STEP_SCHEMA_WORDS, 'enum')),
    }),
    { remove_steps: [{ type: 'tool', name: 'send_email' }] },
  ),
  deleteAgent: z.object({ agent_name: unreadAgentName, if_version: ifVersion() }),
  listAgentEvaluators: z.object({ agent_name: unreadAgentName, cursor: nullable(text()), limit: pageSize }),
  getAgentEvaluator: z.object({ agent_name: unreadAgentName, evaluator_name: text() }),
  listAgentControls: z.object({
    agent_name: unreadAgentName,
    rendered_state: stateFilter('rendered', 'unrendered'),
    enabled_state: stateFilter('enabled', 'disabled'),
    ...targetMembers,
    page_size: nullable(integer(LIMITS.ListAgentControlsRequest.page_size)),
    page_token: nullable(integer(CONTROL_ID)),
    max_message_bytes: nullable(messageBytes(LIMITS.ListAgentControlsRequest.max_message_bytes)),
  }),
  watchControls: z
    .object({
      agent_name: unreadAgentName,
      from_revision: nullable(position),
      max_message_bytes: nullable(messageBytes(LIMITS.WatchControlsRequest.max_message_bytes)),
      ...targetMembers,
    })
    .superRefine(checkTarget),
  addAgentControl: z.object({ agent_name: unreadAgentName, control_id: rowId, if_version: ifVersion() }),
  removeAgentControl: z.object({ agent_name: unreadAgentName, control_id: rowId }),
};

/** Outputs of the schemas of AgentService, by RPC. */
export type AgentInputs = InputsOf<typeof agentSchemas>;

/** Parses the stored text of a registration; undefined when it is damaged. */
export function readStoredRegistration(stored: string): AgentRegistration | undefined {
  return inspectStoredRegistration(stored).registration;
}

/** Parses the stored text of a registration; when it is damaged, the items contain the location. */
export function inspectStoredRegistration(stored: string): {
  registration?: AgentRegistration;
  items: ErrorItem[];
} {
  let data: JsonValue;
  try {
    data = parseStoredJson(stored);
  } catch {
    return { items: [{ resource: 'Agent', code: 'corrupted_data', message: 'not JSON' }] };
  }
  const { value, items } = inputItems(storedRegistration, data);
  if (value !== undefined) return { registration: value, items: [] };
  return { items: items.map((item) => ({ ...item, resource: 'Agent' })) };
}
