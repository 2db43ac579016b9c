import { z } from 'zod';
import { LIMITS } from '../../../gen/limits/limits.js';
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
import { agentName, slugName, unreadAgentName } from '../../contract/input/names.js';
import { rowId } from '../../contract/input/numbers.js';
import { idPage, textPage } from '../../contract/input/paging.js';
import { agentLabels } from '../agents/label-fields.js';

const ofPolicy = z.object({ policy_id: rowId });
const controlOfPolicy = z.object({ policy_id: rowId, control_id: rowId, if_version: ifVersion() });
const ofAgent = z.object({ agent_name: unreadAgentName });
const policyOfAgent = z.object({ agent_name: unreadAgentName, policy_id: rowId });

const agentNames = list(agentName(), LIMITS.AddPolicyAgentsRequest.agent_names);
const AGENT_NAMES = { agent_names: ['billing-bot-01'] };

/** Input schemas of PolicyService, by RPC. Members are in the order of the messages. */
export const policySchemas = {
  createPolicy: withExample(z.object({ name: slugName() }), { name: 'payments' }),
  listPolicies: z.object({ ...idPage, name: nullable(text()) }),
  getPolicy: ofPolicy,
  updatePolicy: withExample(
    z
      .object({
        policy_id: rowId,
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
    policy_id: rowId,
    force: withDefault(boolean(), false),
    if_version: ifVersion(),
  }),
  listPolicyAgents: z.object({ policy_id: rowId, ...textPage }),
  listPolicyControls: ofPolicy,
  addPolicyControl: controlOfPolicy,
  removePolicyControl: controlOfPolicy,
  addPolicyAgents: withExample(
    z.object({ policy_id: rowId, agent_names: agentNames, if_version: ifVersion() }),
    AGENT_NAMES,
  ),
  removePolicyAgents: withExample(z.object({ policy_id: rowId, agent_names: agentNames }), AGENT_NAMES),
  listAgentPolicies: ofAgent,
  addAgentPolicy: policyOfAgent,
  removeAgentPolicy: policyOfAgent,
  removeAllAgentPolicies: ofAgent,
  getAgentPolicy: ofAgent,
  setAgentPolicy: policyOfAgent,
  deleteAgentPolicy: ofAgent,
};
