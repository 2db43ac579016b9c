import { AgentScope } from '../../../gen/proto/enforcement/v1/options_pb.js';
import { beyondAgents, demandAgent } from '../../contract/call/agent-limit.js';
import type { AnyHandler, CallContext } from '../../contract/call/handler.js';
import type { RpcMethod } from '../descriptors/rpc-methods.js';

/** The agents that a request names, by the member that names them. Each of them has to be one of the caller's. */
const NAMED_AGENTS: Readonly<Record<string, (input: unknown) => readonly unknown[]>> = {
  agent_name: (input) => [member(input, 'agent_name')],
  agent: (input) => [member(member(input, 'agent'), 'agent_name')],
  // Links of a policy concern its agents only; the policy itself is shared.
  agent_names: (input) => listed(input, 'agent_names'),
  events: (input) => eventsOf(input).map((event) => member(event, 'agent_name')),
};

/**
 * The function that reads the agents of a request; undefined for an RPC that is not by agent. Throws if an RPC declares
 * a scope that its request message contradicts, so that the service does not start with it: one by agent whose message
 * names none could not be checked, and a free one whose message names some would not be.
 */
export function agentsOfRequests({
  name,
  desc,
  agentScope,
}: Pick<RpcMethod, 'name' | 'desc' | 'agentScope'>): ((input: unknown) => readonly unknown[]) | undefined {
  const members = new Set(desc.input.fields.map((field) => field.name));
  const naming = Object.keys(NAMED_AGENTS).find((one) => members.has(one));
  if (agentScope === AgentScope.BY_AGENT && naming === undefined) {
    throw new Error(`${name} has the scope BY_AGENT, but ${desc.input.typeName} names no agent`);
  }
  if (agentScope === AgentScope.FREE && naming !== undefined) {
    throw new Error(`${name} has the scope FREE, but ${desc.input.typeName} names agents in ${naming}`);
  }
  return agentScope === AgentScope.BY_AGENT && naming !== undefined ? NAMED_AGENTS[naming] : undefined;
}

/**
 * A handler that refuses requests beyond the agents of a caller whose key is limited to some: those to an RPC beyond
 * agents, and those by agent that leave an optional agent out. Throws as `agentsOfRequests` does.
 */
export function limitedToAgents(
  method: Pick<RpcMethod, 'name' | 'desc' | 'agentScope'>,
  handler: AnyHandler,
): AnyHandler {
  const agentsOf = agentsOfRequests(method);
  if (method.agentScope === AgentScope.FREE || method.agentScope === AgentScope.BY_EVALUATION) return handler;
  const check = (input: unknown, { principal: { agents } }: CallContext): void => {
    if (agents === null) return;
    if (agentsOf === undefined) throw beyondAgents();
    const named = agentsOf(input);
    if (named.length === 0) throw beyondAgents();
    for (const agent of named) demandAgent(agents, agent);
  };
  if ('stream' in handler) {
    return {
      ...handler,
      stream(input, context) {
        check(input, context);
        return handler.stream(input, context);
      },
    };
  }
  if ('collect' in handler) {
    const { collect } = handler;
    return { ...handler, collect: (items, context) => collect(checked(items, context, check), context) };
  }
  if ('exchange' in handler) {
    const { exchange } = handler;
    return { ...handler, exchange: (items, context) => exchange(checked(items, context, check), context) };
  }
  return {
    ...handler,
    handle(input, context) {
      check(input, context);
      return handler.handle(input, context);
    },
  };
}

/** The items until the first that must not be sent; of a caller without a limit, as they are. */
function checked<Item>(
  items: AsyncIterable<Item>,
  context: CallContext,
  check: (item: Item, context: CallContext) => void,
): AsyncIterable<Item> {
  if (context.principal.agents === null) return items;
  return eachChecked(items, (item) => check(item, context));
}

async function* eachChecked<Item>(
  items: AsyncIterable<Item>,
  check: (item: Item) => void,
): AsyncGenerator<Item> {
  for await (const item of items) {
    check(item);
    yield item;
  }
}

function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}

/** The events of a message, see `EventMessage`: large messages are read in another thread, which encodes them. */
function eventsOf(input: unknown): readonly unknown[] {
  return [...listed(input, 'events'), ...listed(input, 'encoded').map((one) => member(one, 'event'))];
}

function listed(value: unknown, name: string): readonly unknown[] {
  const list = member(value, name);
  return Array.isArray(list) ? list : [];
}
