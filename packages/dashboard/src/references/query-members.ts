import { Code, ConnectError, createClient } from '@connectrpc/connect';
import { AgentService } from '@gen/enforcement/v1/agent_service_pb.js';
import { ControlService } from '@gen/enforcement/v1/control_service_pb.js';
import { PolicyService } from '@gen/enforcement/v1/policy_service_pb.js';
import { transport } from '../data/transport.js';
import type { QueryMember, QueryReading, QueryValue } from '../ui/query-bar/query-member.js';

const agents = createClient(AgentService, transport);
const controls = createClient(ControlService, transport);
const policies = createClient(PolicyService, transport);

const MAX_SUGGESTIONS = 20;
const MAX_NAMES = 5;

/** Names of agents as the service accepts them. */
const AGENT_NAME = /^[A-Za-z0-9:_-]{10,}$/;
/** Among these, a name that is typed completely is found. */
const MAX_FOUND = 100;

/** Something with a number and a name. */
interface Numbered {
  readonly id: number | string;
  readonly name: string;
}

/** The part of a list request that searches by a part of a name. */
interface Named {
  readonly limit: number;
  readonly name?: string;
}

/** Agents by name, or by a part of it that one name has. Names that are not registered are found in events. */
export const AGENT_MEMBER: QueryMember = {
  name: 'agent',
  hint: 'name of the agent',
  isSearched: true,
  suggest: async (part, _terms, signal) =>
    (await agentNames(part, MAX_SUGGESTIONS, signal)).map((value) => ({ value })),
  read: (text) => (AGENT_NAME.test(text) ? { value: text } : { isUnknown: true }),
  find: async (text, signal) => {
    const names = await agentNames(text, MAX_FOUND, signal);
    return onlyOne(
      'agent',
      text,
      names.map((name) => ({ id: name, name })),
    );
  },
};

/** Controls by name. The address has the id, which stays when the control is renamed. */
export const CONTROL_MEMBER: QueryMember = numberedMember({
  name: 'control',
  hint: 'name of the control, or its id',
  list: async (request, signal) => (await controls.listControls(request, { signal })).controls,
  nameOf: async (controlId, signal) => (await controls.getControl({ controlId }, { signal })).name,
});

/** Policies by name, with the id in the address. */
export const POLICY_MEMBER: QueryMember = numberedMember({
  name: 'policy',
  hint: 'name of the policy, or its id',
  list: async (request, signal) => (await policies.listPolicies(request, { signal })).policies,
  nameOf: async (policyId, signal) => (await policies.getPolicy({ policyId }, { signal })).policy?.name,
});

/** Labels of agents, as `name=value`, or the name alone for any value. */
export const LABEL_MEMBER: QueryMember = {
  name: 'label',
  hint: 'label of the agent, as name=value or name',
  isMultiple: true,
  suggest: async (part, _terms, signal) => {
    const { labels } = await agents.listAgentLabels({}, { signal });
    const typed = part.toLowerCase();
    return labels
      .flatMap(({ name, values }) => [
        { value: name, hint: 'any value' },
        ...values.map(({ value, agentCount }) => ({
          value: `${name}=${value}`,
          hint: agentCount === 1 ? '1 agent' : `${agentCount} agents`,
        })),
      ])
      .filter(({ value }) => value.toLowerCase().includes(typed));
  },
};

interface NumberedMember extends Pick<QueryMember, 'name' | 'hint'> {
  readonly list: (name: Named, signal: AbortSignal) => Promise<readonly Numbered[]>;
  readonly nameOf: (id: number, signal: AbortSignal) => Promise<string | undefined>;
}

/** A member whose values are ids, which one types and reads as names. */
function numberedMember({ list, nameOf, ...member }: NumberedMember): QueryMember {
  const suggest = async (part: string, signal: AbortSignal): Promise<readonly QueryValue[]> =>
    (await list(named(part, MAX_SUGGESTIONS), signal)).map(({ id, name }) => ({
      value: String(id),
      text: name,
      hint: `no. ${id}`,
    }));
  return {
    ...member,
    isMultiple: true,
    isSearched: true,
    separator: ',',
    suggest: (part, _terms, signal) => suggest(part, signal),
    read: (text) => (isId(text) ? { value: String(Number(text)) } : { isUnknown: true }),
    find: async (text, signal) => onlyOne(member.name, text, await list(named(text, MAX_FOUND), signal)),
    textOf: async (value, signal) => {
      try {
        return await nameOf(Number(value), signal);
      } catch (error) {
        // Events and entries of what was deleted are found by its id.
        if (ConnectError.from(error).code === Code.NotFound) return undefined;
        throw error;
      }
    },
  };
}

/** The only one with a name; otherwise what is possible. */
function onlyOne(what: string, text: string, found: readonly Numbered[]): QueryReading {
  const typed = text.toLowerCase();
  const exact =
    found.find(({ name }) => name === text) ?? found.find(({ name }) => name.toLowerCase() === typed);
  const [only = exact, second] = found;
  const one = exact ?? (second === undefined ? only : undefined);
  if (one !== undefined) return { value: String(one.id) };
  if (found.length === 0) return { problem: `No ${what} has “${text}” in its name.` };
  const names = found.slice(0, MAX_NAMES).map(({ name }) => name);
  return {
    problem: `“${text}” is in the name of more than one ${what}: ${names.join(', ')}${found.length > MAX_NAMES ? ', …' : ''}.`,
  };
}

function isId(text: string): boolean {
  return /^-?\d{1,10}$/.test(text) && Math.abs(Number(text)) < 2 ** 31;
}

async function agentNames(part: string, limit: number, signal: AbortSignal): Promise<readonly string[]> {
  const reply = await agents.listAgents(named(part, limit), { signal });
  return reply.agents.map(({ agentName }) => agentName);
}

function named(part: string, limit: number): Named {
  return part === '' ? { limit } : { limit, name: part };
}
