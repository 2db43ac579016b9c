import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { AgentScope } from '../../../gen/proto/enforcement/v1/options_pb.js';
import { ServerService } from '../../../gen/proto/enforcement/v1/server_service_pb.js';
import { feature } from '../../../src/app/wiring/feature.js';
import { createAgentLimit } from '../../../src/contract/call/agent-limit.js';
import {
  ANONYMOUS,
  type AnyHandler,
  collectHandler,
  exchangeHandler,
  type HandlerCall,
  handler,
  type Principal,
  streamHandler,
} from '../../../src/contract/call/handler.js';
import { limitedToAgents } from '../../../src/serve/auth/agent-scope.js';
import { type RpcMethod, rpcMethods } from '../../../src/serve/descriptors/rpc-methods.js';
import { SERVICES } from '../../support/protocol-clients.js';
import { decisionOf } from '../../support/rpc-decisions.js';

const OWN = 'support-bot-1';
const OTHER = 'billing-bot-1';
const LIMITED: Principal = { ...ANONYMOUS, level: 'admin', agents: createAgentLimit(['support-*']) };

/** A request with these agents in every place that a request can name one. */
function naming(...agents: string[]) {
  const [agent_name] = agents;
  const events = agents.map((one) => ({ agent_name: one }));
  return agent_name === undefined ? {} : { agent_name, agent: { agent_name }, agent_names: agents, events };
}

/** The handler of an RPC, which returns `ok`. */
function handlerOf({ desc }: RpcMethod): AnyHandler {
  const any = z.unknown();
  const reply = { ok: true };
  if (desc.methodKind === 'server_streaming') {
    return streamHandler(any, async function* () {
      yield reply;
    });
  }
  if (desc.methodKind === 'client_streaming') {
    return collectHandler(any, async (items) => {
      for await (const _item of items);
      return reply;
    });
  }
  if (desc.methodKind === 'bidi_streaming') {
    return exchangeHandler(any, async function* (items) {
      for await (const _item of items) yield reply;
    });
  }
  return handler(any, () => reply);
}

/** `ok`, or the code of the refusal. */
async function outcome(method: RpcMethod, input: object, principal: Principal): Promise<string> {
  const limited = limitedToAgents(method, handlerOf(method));
  const context = { principal } as HandlerCall;
  async function* items() {
    yield input;
  }
  try {
    if ('stream' in limited) for await (const _reply of limited.stream(input, context));
    else if ('collect' in limited) await limited.collect(items(), context);
    else if ('exchange' in limited) for await (const _reply of limited.exchange(items(), context));
    else await limited.handle(input, context);
    return 'ok';
  } catch (error) {
    return (error as { code: string }).code;
  }
}

const REFUSED = 'AUTH_INSUFFICIENT_PRIVILEGES';
/** Evaluations are limited by the evaluation itself: `e2e/keys-file.test.ts`. */
const METHODS = SERVICES.flatMap(rpcMethods).filter(({ isEvaluation }) => !isEvaluation);
/** Members with several agents. */
const SEVERAL = ['agent_names', 'events'];

const scopeOf = ({ desc }: RpcMethod) => decisionOf(`${desc.parent.name}.${desc.name}`).agents;

describe('a key that is limited to agents', () => {
  it.each(METHODS.map((method) => [method.desc.name, method] as const))('calls %s', async (_name, method) => {
    const scope = scopeOf(method);
    const own = scope === 'beyond' ? REFUSED : 'ok';
    const none = scope === 'free' ? 'ok' : REFUSED;
    expect(await outcome(method, naming(OWN), LIMITED)).toBe(own);
    expect(await outcome(method, naming(), LIMITED)).toBe(none);
    expect(await outcome(method, naming(OTHER), LIMITED)).toBe(none);
    // One name of several that is not allowed refuses the whole request.
    if (method.desc.input.fields.some(({ name }) => SEVERAL.includes(name)))
      expect(await outcome(method, naming(OWN, OTHER), LIMITED)).toBe(none);
    // Other keys are not limited.
    expect(await outcome(method, naming(OTHER), { ...LIMITED, agents: null })).toBe('ok');
  });
});

describe('the agent scope of an RPC', () => {
  const named = (name: string) => METHODS.find(({ desc }) => desc.name === name) as RpcMethod;
  const served = (method: RpcMethod, agentScope: AgentScope) => () =>
    limitedToAgents({ ...method, agentScope }, handlerOf(method));

  it('is refused at the start if the request names no agent that could be checked', () => {
    expect(served(named('GetServerInfo'), AgentScope.BY_AGENT)).toThrow(
      /GetServerInfoRequest names no agent/,
    );
  });
  it('is refused at the start if the request names agents that would not be checked', () => {
    expect(served(named('GetAgent'), AgentScope.FREE)).toThrow(/names agents in agent_name/);
  });
  it('may be narrower than what the request names', async () => {
    const narrow = { ...named('GetAgent'), agentScope: AgentScope.BEYOND };
    expect(await outcome(narrow, naming(OWN), LIMITED)).toBe(REFUSED);
  });
  it('is by agent for evaluations, which are limited one by one', () => {
    const evaluations = SERVICES.flatMap(rpcMethods).filter(({ isEvaluation }) => isEvaluation);
    const isOwn = ({ desc }: RpcMethod) => desc.parent.name === 'EvaluationService';
    expect(evaluations.filter(isOwn).length).toBeGreaterThan(2);
    // Adapters find the agents in messages of other protocols.
    expect(evaluations.map(scopeOf)).toEqual(
      evaluations.map((method) => (isOwn(method) ? 'by_agent' : 'by_evaluation')),
    );
  });
  it('is refused at the start for an RPC without a handler that is no evaluation', () => {
    expect(() => feature(ServerService, {})).toThrow(/has no handler/);
  });
});
