import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { AgentService } from '../../../gen/proto/enforcement/v1/agent_service_pb.js';
import { AuditService } from '../../../gen/proto/enforcement/v1/audit_service_pb.js';
import { ControlService } from '../../../gen/proto/enforcement/v1/control_service_pb.js';
import { EvaluationService } from '../../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import { EvaluatorService } from '../../../gen/proto/enforcement/v1/evaluator_service_pb.js';
import { ObservabilityService } from '../../../gen/proto/enforcement/v1/observability_service_pb.js';
import { PolicyService } from '../../../gen/proto/enforcement/v1/policy_service_pb.js';
import { ServerService } from '../../../gen/proto/enforcement/v1/server_service_pb.js';
import { TemplateService } from '../../../gen/proto/enforcement/v1/template_service_pb.js';
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
import { limitedToAgents } from '../../../src/transport/auth/agent-scope.js';
import { type RpcMethod, rpcMethods } from '../../../src/transport/descriptors/rpc-methods.js';

const SERVICES = [
  AuditService,
  AgentService,
  ControlService,
  EvaluationService,
  EvaluatorService,
  ObservabilityService,
  PolicyService,
  ServerService,
  TemplateService,
];

/** What a key that is limited to agents may call. Evaluations are limited by the evaluation itself. */
const FREE = [
  'GetControlSchema',
  'GetObservabilityStatus',
  'GetServerInfo',
  'ListEvaluators',
  'RenderTemplate',
];
const BY_AGENT = [
  'AddAgentControl',
  'AddAgentPolicy',
  'AddPolicyAgents',
  'CreateEvents',
  'DeleteAgent',
  'DeleteAgentPolicy',
  'ExportEvents',
  'GetAgent',
  'GetAgentEvaluator',
  'GetAgentPolicy',
  'GetControlStats',
  'GetStats',
  'IngestEvents',
  'InitAgent',
  'ListAgentControls',
  'ListAgentEvaluators',
  'ListAgentPolicies',
  'PublishEvents',
  'QueryEvents',
  'RemoveAgentControl',
  'RemoveAgentPolicy',
  'RemoveAllAgentPolicies',
  'RemovePolicyAgents',
  'SetAgentPolicy',
  'UpdateAgent',
  'WatchControls',
  'WatchEvents',
  'Explain',
];
const BEYOND = [
  'ExportAuditEntries',
  'ListAuditEntries',
  'VerifyAudit',
  'CreateControl',
  'CreatePolicy',
  'AddPolicyControl',
  'DeleteControl',
  'DeletePolicy',
  'FlushEvents',
  'GetControl',
  'GetControlData',
  'GetControlVersion',
  'GetPolicy',
  'GetStatsOverview',
  'ListAgents',
  'ListControlAgents',
  'ListControlPolicies',
  'ListControls',
  'ListControlVersions',
  'ListPolicies',
  'ListPolicyAgents',
  'ListPolicyControls',
  'RemovePolicyControl',
  'RestoreControlVersion',
  'SetControlData',
  'UpdateControl',
  'UpdatePolicy',
  'ValidateControl',
];
const EVALUATIONS = ['Evaluate', 'EvaluateBatch', 'EvaluateStream'];

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
const METHODS = SERVICES.flatMap(rpcMethods).filter(({ desc }) => !EVALUATIONS.includes(desc.name));

describe('a key that is limited to agents', () => {
  it('has a rule for every RPC', () => {
    const names = METHODS.map(({ desc }) => desc.name).sort();
    expect([...FREE, ...BY_AGENT, ...BEYOND].sort()).toEqual(names);
  });

  it.each(METHODS.map((method) => [method.desc.name, method] as const))('calls %s', async (name, method) => {
    const isFree = FREE.includes(name);
    const own = isFree || BY_AGENT.includes(name) ? 'ok' : REFUSED;
    const none = isFree ? 'ok' : REFUSED;
    expect(await outcome(method, naming(OWN), LIMITED)).toBe(own);
    expect(await outcome(method, naming(), LIMITED)).toBe(none);
    expect(await outcome(method, naming(OTHER), LIMITED)).toBe(none);
    // One name of several that is not allowed refuses the whole request.
    if (/PolicyAgents$|Events$/.test(name) && !/^(Query|Export|Watch)/.test(name))
      expect(await outcome(method, naming(OWN, OTHER), LIMITED)).toBe(none);
    // Other keys are not limited.
    expect(await outcome(method, naming(OTHER), { ...LIMITED, agents: null })).toBe('ok');
  });
});
