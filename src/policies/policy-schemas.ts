import { z } from 'zod';
import { list, text, withExample } from '../contract/input/fields.js';
import { agentName as checkedAgentName, slugName } from '../contract/input/names.js';
import { integer } from '../contract/input/numbers.js';
import { MAX_LISTED_AGENTS } from '../database/change-log.js';

/** A name in a path: any text here; the service normalises it, because it is validated after the body. */
const agentName = text();
/** Any integer: a number that is no id, 0 or beyond 32 bits included, is simply not found. */
const id = integer();

const ofPolicy = z.object({ policy_id: id });
const controlOfPolicy = z.object({ policy_id: id, control_id: id });
const ofAgent = z.object({ agent_name: agentName });
const policyOfAgent = z.object({ agent_name: agentName, policy_id: id });

const agentsOfPolicy = withExample(
  z.object({ policy_id: id, agent_names: list(checkedAgentName(), { min: 1, max: MAX_LISTED_AGENTS }) }),
  { agent_names: ['billing-bot-01'] },
);

/** Input schemas of PolicyService, by RPC. Members are in the order of the messages. */
export const policySchemas = {
  createPolicy: withExample(z.object({ name: slugName() }), { name: 'payments' }),
  listPolicyControls: ofPolicy,
  addPolicyControl: controlOfPolicy,
  removePolicyControl: controlOfPolicy,
  addPolicyAgents: agentsOfPolicy,
  removePolicyAgents: agentsOfPolicy,
  listAgentPolicies: ofAgent,
  addAgentPolicy: policyOfAgent,
  removeAgentPolicy: policyOfAgent,
  removeAllAgentPolicies: ofAgent,
  getAgentPolicy: ofAgent,
  setAgentPolicy: policyOfAgent,
  deleteAgentPolicy: ofAgent,
};
