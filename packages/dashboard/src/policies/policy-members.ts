import { createClient } from '@connectrpc/connect';
import { AgentService, type AgentSummary } from '@gen/enforcement/v1/agent_service_pb.js';
import { ControlService, type ControlSummary } from '@gen/enforcement/v1/control_service_pb.js';
import { type PolicyAgent, PolicyService } from '@gen/enforcement/v1/policy_service_pb.js';
import { transport } from '../data/transport.js';
import { readAll } from '../ui/list/read-all.js';

const agents = createClient(AgentService, transport);
const controls = createClient(ControlService, transport);
const policies = createClient(PolicyService, transport);
const PAGE_SIZE = 100;
/** Most names of a request. */
const NAMES_AT_ONCE = 1_000;

/** All agents whose name contains a text. */
export function agentsNamed(name: string, signal: AbortSignal): Promise<readonly AgentSummary[]> {
  return readAll(
    (cursor) => agents.listAgents({ ...page(cursor), ...named(name) }, { signal }),
    (reply) => reply.agents,
    { signal },
  );
}

/** All controls whose name contains a text. */
export function controlsNamed(name: string, signal: AbortSignal): Promise<readonly ControlSummary[]> {
  return readAll(
    (cursor) => controls.listControls({ ...page(cursor), ...named(name) }, { signal }),
    (reply) => reply.controls,
    { signal },
  );
}

/** All agents of a policy. */
export function agentsOfPolicy(policyId: number, signal: AbortSignal): Promise<readonly PolicyAgent[]> {
  return readAll(
    (cursor) => policies.listPolicyAgents({ policyId, ...page(cursor) }, { signal }),
    (reply) => reply.agents,
    { signal },
  );
}

/** Gives a policy to agents, however many. */
export async function addAgents(
  policyId: number,
  names: readonly string[],
  onProgress: (done: number) => void,
): Promise<void> {
  for (let at = 0; at < names.length; at += NAMES_AT_ONCE) {
    await policies.addPolicyAgents({ policyId, agentNames: names.slice(at, at + NAMES_AT_ONCE) });
    onProgress(Math.min(names.length, at + NAMES_AT_ONCE));
  }
}

/** Takes a policy from agents, however many. */
export async function removeAgents(policyId: number, names: readonly string[]): Promise<void> {
  for (let at = 0; at < names.length; at += NAMES_AT_ONCE) {
    await policies.removePolicyAgents({ policyId, agentNames: names.slice(at, at + NAMES_AT_ONCE) });
  }
}

export function addControl(policyId: number, controlId: number) {
  return policies.addPolicyControl({ policyId, controlId });
}

export function removeControl(policyId: number, controlId: number) {
  return policies.removePolicyControl({ policyId, controlId });
}

function page(cursor: string | undefined) {
  return { limit: PAGE_SIZE, ...(cursor === undefined ? {} : { cursor }) };
}

function named(name: string) {
  return name === '' ? {} : { name };
}
