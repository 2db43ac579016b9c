import { z } from 'zod';
import {
  boolean,
  list,
  nullable,
  report,
  text,
  withDefault,
  withExample,
} from '../../contract/input/fields.js';
import { ifVersion } from '../../contract/input/if-version.js';
import { agentName as checkedAgentName, slugName } from '../../contract/input/names.js';
import { integer } from '../../contract/input/numbers.js';
import { MAX_LISTED_AGENTS } from '../../storage/database/change-log.js';
import { agentLabels } from '../agents/label-fields.js';

/** A name in a path: any text here; the service normalises it, because it is validated after the body. */
const agentName = text();
/** Any integer: a number that is no id, 0 or beyond 32 bits included, is simply not found. */
const id = integer();

const ofPolicy = z.object({ policy_id: id });
const controlOfPolicy = z.object({ policy_id: id, control_id: id, if_version: ifVersion() });
const ofAgent = z.object({ agent_name: agentName });
const policyOfAgent = z.object({ agent_name: agentName, policy_id: id });

const agentNames = list(checkedAgentName(), { min: 1, max: MAX_LISTED_AGENTS });
const AGENT_NAMES = { agent_names: ['billing-bot-01'] };

/** Policies, or agents of one, per page. */
const PAGE_SIZE = { min: 1, max: 100, default: 20 } as const;
const limit = withDefault(integer(PAGE_SIZE), PAGE_SIZE.default);

/** Clamps a cursor to the 32 bits of ids, with which it is compared. */
function within32Bits(cursor: number): number {
  return Math.min(Math.max(cursor, -(2 ** 31)), 2 ** 31 - 1);
}

/** Input schemas of PolicyService, by RPC. Members are in the order of the messages. */
export const policySchemas = {
  createPolicy: withExample(z.object({ name: slugName() }), { name: 'payments' }),
  listPolicies: z.object({
    cursor: nullable(integer().transform(within32Bits)),
    limit,
    name: nullable(text()),
  }),
  getPolicy: ofPolicy,
  updatePolicy: withExample(
    z
      .object({
        policy_id: id,
        name: slugName().optional(),
        if_version: ifVersion(),
        every_agent: nullable(boolean()),
        agent_labels: agentLabels(),
      })
      .superRefine(({ name, every_agent: everyAgent, agent_labels: labels }, sink) => {
        if (name === undefined && everyAgent === undefined && labels === undefined) {
          report(sink, 'missing', 'Field required: a name, every_agent or agent_labels', undefined, ['name']);
        }
      }),
    { name: 'payments' },
  ),
  deletePolicy: z.object({
    policy_id: id,
    force: withDefault(boolean(), false),
    if_version: ifVersion(),
  }),
  listPolicyAgents: z.object({ policy_id: id, cursor: nullable(text()), limit }),
  listPolicyControls: ofPolicy,
  addPolicyControl: controlOfPolicy,
  removePolicyControl: controlOfPolicy,
  addPolicyAgents: withExample(
    z.object({ policy_id: id, agent_names: agentNames, if_version: ifVersion() }),
    AGENT_NAMES,
  ),
  removePolicyAgents: withExample(z.object({ policy_id: id, agent_names: agentNames }), AGENT_NAMES),
  listAgentPolicies: ofAgent,
  addAgentPolicy: policyOfAgent,
  removeAgentPolicy: policyOfAgent,
  removeAllAgentPolicies: ofAgent,
  getAgentPolicy: ofAgent,
  setAgentPolicy: policyOfAgent,
  deleteAgentPolicy: ofAgent,
};
