import { beyondAgents, demandAgent } from '../../contract/call/agent-limit.js';
import type { AnyHandler, CallContext } from '../../contract/call/handler.js';
import type { RpcMethod } from '../descriptors/rpc-methods.js';

/** RPCs that tell nothing about any agent or control. */
const FREE: ReadonlySet<string> = new Set([
  'ServerService/GetServerInfo',
  'EvaluatorService/ListEvaluators',
  'ControlService/GetControlSchema',
  'TemplateService/RenderTemplate',
  'ObservabilityService/GetObservabilityStatus',
]);

/**
 * The agents that a request concerns, from its message: each has to be one of the caller's. `any` for a request that
 * concerns none, `beyond` for one that concerns others or all. An RPC without a rule here is `beyond`, and so is a
 * request that leaves an optional agent out.
 */
export type AgentScope = 'any' | 'beyond' | ((input: unknown) => readonly unknown[]);

export function agentScopeOf({ name, desc }: Pick<RpcMethod, 'name' | 'desc'>): AgentScope {
  if (FREE.has(name.slice(name.lastIndexOf('.') + 1))) return 'any';
  const members = new Set(desc.input.fields.map((field) => field.name));
  if (members.has('agent_name')) return (input) => [member(input, 'agent_name')];
  if (members.has('agent')) return (input) => [member(member(input, 'agent'), 'agent_name')];
  // Links of a policy concern its agents only; the policy itself is shared.
  if (members.has('agent_names')) return (input) => listed(input, 'agent_names');
  if (members.has('events')) {
    return (input) => eventsOf(input).map((event) => member(event, 'agent_name'));
  }
  return 'beyond';
}

/** A handler that refuses requests beyond the agents of a caller whose key is limited to some. */
export function limitedToAgents(method: Pick<RpcMethod, 'name' | 'desc'>, handler: AnyHandler): AnyHandler {
  const scope = agentScopeOf(method);
  const check = (input: unknown, { principal: { agents } }: CallContext): void => {
    if (agents === null || scope === 'any') return;
    if (scope === 'beyond') throw beyondAgents();
    const named = scope(input);
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
