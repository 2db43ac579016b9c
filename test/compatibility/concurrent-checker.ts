import type { RestClient } from '../support/http.js';
import { AGENTS, type ConcurrentRun } from './concurrent-clients.js';
import {
  type History,
  possibleFinalValues,
  type Subject,
  type Write,
  writesBySubject,
} from './concurrent-history.js';
import { checkLives } from './concurrent-lives.js';
import { checkVersions } from './concurrent-versions.js';

/** What the service says at the end. */
interface FinalState {
  readonly controls: readonly FinalControl[];
  /** Ids of the effective controls of each agent. */
  readonly effective: ReadonlyMap<string, readonly number[]>;
  readonly agentPolicies: ReadonlyMap<string, readonly number[]>;
  readonly policyControls: ReadonlyMap<number, readonly number[]>;
  readonly descriptions: ReadonlyMap<string, string>;
}

interface FinalControl {
  readonly id: number;
  readonly name: string;
  readonly word: string;
  readonly enabled: boolean;
  readonly usedBy: number;
}

const ALL = 'limit=100';

/** Holds the state the clients left behind against what they were told. Returns what does not fit, empty if all does. */
export async function checkFinalState(run: ConcurrentRun): Promise<string[]> {
  const state = await readState(run);
  const writes = writesBySubject(run.history.operations);
  return [
    ...checkLives(run.history, new Set(state.controls.map(({ id }) => id))),
    ...checkReplies(run.history),
    ...checkControls(state, writes),
    ...checkAgents(state, writes, run.history),
    ...checkLinks(state, writes),
    ...(await checkVerdicts(run, state)),
    // Before the checks that delete what is left.
    ...(await checkVersions(run.call, run.history)),
    ...(await checkDirectLinks(run, state, writes)),
    ...(await checkFreshId(run)),
  ];
}

async function readState({ call, policies }: ConcurrentRun): Promise<FinalState> {
  const read = async (path: string) => {
    const { status, body } = await call('GET', `/api/v1${path}`);
    if (status !== 200) throw new Error(`GET ${path}: ${status} ${JSON.stringify(body)}`);
    return body;
  };
  const summaries = (await read(`/controls?${ALL}`)).controls as {
    id: number;
    name: string;
    enabled: boolean;
    used_by_agents_count: number;
  }[];
  const controls: FinalControl[] = [];
  for (const { id, name, enabled, used_by_agents_count: usedBy } of summaries) {
    const word = (await read(`/controls/${id}/data`)).data.condition.evaluator.config.pattern as string;
    controls.push({ id, name, word, enabled, usedBy });
  }
  const effective = new Map<string, number[]>();
  const agentPolicies = new Map<string, number[]>();
  const descriptions = new Map<string, string>();
  for (const agent of AGENTS) {
    const linked = (await read(`/agents/${agent}/controls`)).controls as { id: number }[];
    effective.set(
      agent,
      linked.map(({ id }) => id),
    );
    agentPolicies.set(agent, (await read(`/agents/${agent}/policies`)).policy_ids);
    descriptions.set(agent, (await read(`/agents/${agent}`)).agent.agent_description);
  }
  const policyControls = new Map<number, number[]>();
  for (const policy of policies) {
    policyControls.set(policy, (await read(`/policies/${policy}/controls`)).control_ids);
  }
  return { controls, effective, agentPolicies, policyControls, descriptions };
}

/** A change tells the state after it, so it has to tell its own. */
function checkReplies(history: History): string[] {
  return history.operations.flatMap(({ what, effects, status, body }) => {
    if (status !== 200 || !what.startsWith('PATCH')) return [];
    return effects.flatMap(({ subject, value }) => {
      const told = subject.startsWith('name ') ? body.name : body.enabled;
      return told === value ? [] : [`${what} was told ${String(told)}`];
    });
  });
}

/** No update is lost: what remains was written last, or at the same time as what was. */
function checkControls({ controls }: FinalState, writes: ReadonlyMap<Subject, readonly Write[]>): string[] {
  const names = controls.map(({ name }) => name);
  return [
    ...names
      .filter((name, index) => names.indexOf(name) !== index)
      .map((name) => `two controls are named ${name}`),
    ...controls.flatMap(({ id, name, word, enabled }) => [
      ...unexpected(`name ${id}`, name, writes),
      ...unexpected(`word ${id}`, word, writes),
      ...unexpected(`enabled ${id}`, enabled, writes),
    ]),
  ];
}

function checkAgents(
  { descriptions, agentPolicies }: FinalState,
  writes: ReadonlyMap<Subject, readonly Write[]>,
  { operations }: History,
): string[] {
  return AGENTS.flatMap((agent) => {
    const created = operations.filter(
      ({ what, body }) => what.includes('initAgent') && what.includes(agent) && body.created === true,
    ).length;
    const given = [...(agentPolicies.get(agent) ?? [])];
    const asked = [...writes.keys()].filter((subject) => subject.startsWith(`policy ${agent} `));
    return [
      ...(created === 1 ? [] : [`${agent} was created ${created} times`]),
      ...unexpected(`agent ${agent}`, descriptions.get(agent) ?? '', writes),
      ...asked.flatMap((subject) =>
        unexpected(subject, given.includes(Number(subject.split(' ')[2])), writes),
      ),
    ];
  });
}

/** No link is half there: every view of the same links tells the same, and what clients were told explains it. */
function checkLinks(state: FinalState, writes: ReadonlyMap<Subject, readonly Write[]>): string[] {
  const problems: string[] = [];
  const known = new Set(state.controls.map(({ id }) => id));
  for (const [agent, ids] of state.effective) {
    const inherited = inheritedOf(agent, state);
    for (const id of ids) if (!known.has(id)) problems.push(`${agent} has control ${id}, which is gone`);
    if (new Set(ids).size !== ids.length) problems.push(`${agent} has a control twice: ${ids}`);
    for (const { id } of state.controls) {
      const subject: Subject = `link ${agent} ${id}`;
      const has = ids.includes(id);
      if (inherited.has(id)) {
        if (!has) problems.push(`${agent} lacks control ${id} of its policies`);
      } else problems.push(...unexpected(subject, has, writes));
    }
  }
  for (const [policy, ids] of state.policyControls) {
    for (const id of ids)
      if (!known.has(id)) problems.push(`policy ${policy} has control ${id}, which is gone`);
    for (const { id } of state.controls) {
      problems.push(...unexpected(`content ${policy} ${id}`, ids.includes(id), writes));
    }
  }
  for (const { id, usedBy } of state.controls) {
    const users = [...state.effective.values()].filter((ids) => ids.includes(id)).length;
    if (users !== usedBy) problems.push(`control ${id} is used by ${users} agents, but shown with ${usedBy}`);
  }
  return problems;
}

function inheritedOf(agent: string, state: FinalState): Set<number> {
  const policies = state.agentPolicies.get(agent) ?? [];
  return new Set(policies.flatMap((policy) => state.policyControls.get(policy) ?? []));
}

/** Evaluation follows: each agent is held to its effective controls that are enabled, as they are defined now. */
async function checkVerdicts({ call }: ConcurrentRun, state: FinalState): Promise<string[]> {
  const input = state.controls.map(({ word }) => word).join(' ');
  const problems: string[] = [];
  for (const [agent, ids] of state.effective) {
    const step = { type: 'llm', name: 'answer', input };
    const { body } = await call('POST', '/api/v1/evaluation', { agent_name: agent, stage: 'pre', step });
    const matched = (body.matches as { control_id: number; control_name: string }[]).map(
      ({ control_id: id, control_name: name }) => `${id} ${name}`,
    );
    const expected = state.controls
      .filter(({ id, enabled }) => enabled && ids.includes(id))
      .map(({ id, name }) => `${id} ${name}`);
    if (matched.sort().join() !== expected.sort().join()) {
      problems.push(`${agent} is held to [${matched}] instead of [${expected}]`);
    }
  }
  return problems;
}

/** Deleting what is left shows each direct link, also those that a policy hides in other views. */
async function checkDirectLinks(
  { call }: ConcurrentRun,
  state: FinalState,
  writes: ReadonlyMap<Subject, readonly Write[]>,
): Promise<string[]> {
  const problems: string[] = [];
  for (const { id } of state.controls) {
    const { body } = await call('DELETE', `/api/v1/controls/${id}?force=true`);
    for (const agent of AGENTS) {
      problems.push(
        ...unexpected(`link ${agent} ${id}`, body.dissociated_from_agents.includes(agent), writes),
      );
    }
    const policies = [...state.policyControls]
      .filter(([, ids]) => ids.includes(id))
      .map(([policy]) => policy);
    const told = [...(body.dissociated_from_policies as number[])].sort((a, b) => a - b);
    if (told.join() !== policies.join())
      problems.push(`control ${id} was in policies ${policies}, not ${told}`);
  }
  problems.push(...(await leftovers(call)));
  return problems;
}

async function leftovers(call: RestClient): Promise<string[]> {
  const problems: string[] = [];
  for (const agent of AGENTS) {
    const { body } = await call('GET', `/api/v1/agents/${agent}/controls`);
    if (body.controls.length > 0) problems.push(`${agent} keeps controls after all were deleted`);
  }
  return problems;
}

/** A new control gets an id that none had, even when all others are gone. */
async function checkFreshId({ call, history }: ConcurrentRun): Promise<string[]> {
  const data = {
    execution: 'server',
    condition: { selector: {}, evaluator: { name: 'x', config: {} } },
    action: { decision: 'observe' },
  };
  const { body } = await call('PUT', '/api/v1/controls', { name: 'c-1', data });
  const used = history.controlIds().includes(body.control_id);
  return used || !Number.isInteger(body.control_id) ? [`a new control got the id ${body.control_id}`] : [];
}

/** What is there was not written, or was overwritten for certain. A link that was never written is absent. */
function unexpected(
  subject: Subject,
  value: Write['value'],
  writes: ReadonlyMap<Subject, readonly Write[]>,
): string[] {
  const possible = possibleFinalValues(writes.get(subject) ?? []);
  if (possible.size === 0) possible.add(false);
  return possible.has(value)
    ? []
    : [`${subject} is ${String(value)}; expected ${[...possible].join(' or ')}`];
}
