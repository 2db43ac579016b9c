import { create, type DescMessage, fromJson, type JsonValue, type Message } from '@bufbuild/protobuf';
import { WireType } from '@bufbuild/protobuf/wire';
import { createClient, type Transport } from '@connectrpc/connect';
import { beforeAll, describe, expect, it } from 'vitest';
import { ControlDefinitionSchema } from '../../gen/proto/enforcement/v1/control_pb.js';
import { ControlService } from '../../gen/proto/enforcement/v1/control_service_pb.js';
import { SERVICES } from '../support/protocol-clients.js';
import { RPC_PROTOCOLS, rpcTransport } from '../support/rpc-transports.js';
import { describeServiceOnSqlite } from '../support/service-suite.js';

const AGENT = 'future-agent-01';
const WARNING = 'x-service-warning';
/** A field that no version of the API has. */
const FUTURE = [{ no: 5_000, wireType: WireType.Varint, data: Uint8Array.of(1) }];
const DATA = {
  execution: 'EXECUTION_SERVER',
  condition: { selector: { path: 'input' }, evaluator: { name: 'regex', config: { pattern: 'x' } } },
  action: { decision: 'DECISION_DENY' },
} satisfies JsonValue;
const TEMPLATE = {
  template: {
    parameters: { word: { type: 'string', label: 'Word' } },
    definitionTemplate: {
      execution: 'server',
      condition: { selector: {}, evaluator: { name: 'list', config: { values: [{ $param: 'word' }] } } },
      action: { decision: 'deny' },
    },
  },
  templateValues: { word: 'a' },
} satisfies JsonValue;
const EVENT_AGENT = 'nobody-at-all';

/**
 * Every unary RPC that changes something, apart from evaluations and from the ingestion of events, which are too
 * frequent to be searched, in an order in which each has what it needs. `#` is a number that no other call has.
 */
const CALLS: [rpc: string, input: JsonValue][] = [
  ['AgentService.InitAgent', { agent: { agentName: AGENT } }],
  ['ControlService.CreateControl', { name: 'control-#', data: DATA }],
  ['ControlService.ValidateControl', { data: DATA }],
  ['ControlService.UpdateControl', { controlId: 1, enabled: true }],
  ['ControlService.SetControlData', { controlId: 1, data: DATA }],
  ['ControlService.RestoreControlVersion', { controlId: 1, versionNum: 1 }],
  ['TemplateService.RenderTemplate', TEMPLATE],
  ['AgentService.AddAgentControl', { agentName: AGENT, controlId: 1 }],
  ['AgentService.RemoveAgentControl', { agentName: AGENT, controlId: 1 }],
  ['AgentService.UpdateAgent', { agentName: AGENT, removeEvaluators: ['x'] }],
  ['PolicyService.CreatePolicy', { name: 'policy-#' }],
  ['PolicyService.UpdatePolicy', { policyId: 1, name: 'renamed-#' }],
  ['PolicyService.AddPolicyControl', { policyId: 1, controlId: 1 }],
  ['PolicyService.RemovePolicyControl', { policyId: 1, controlId: 1 }],
  ['PolicyService.AddPolicyAgents', { policyId: 1, agentNames: [AGENT] }],
  ['PolicyService.RemovePolicyAgents', { policyId: 1, agentNames: [AGENT] }],
  ['PolicyService.AddAgentPolicy', { agentName: AGENT, policyId: 1 }],
  ['PolicyService.RemoveAgentPolicy', { agentName: AGENT, policyId: 1 }],
  ['PolicyService.SetAgentPolicy', { agentName: AGENT, policyId: 1 }],
  ['PolicyService.DeleteAgentPolicy', { agentName: AGENT }],
  ['PolicyService.RemoveAllAgentPolicies', { agentName: AGENT }],
  ['PolicyService.DeletePolicy', { policyId: 0 }],
  ['ControlService.DeleteControl', { controlId: 0 }],
  ['AgentService.DeleteAgent', { agentName: EVENT_AGENT }],
];
/** Nothing is left to delete after the first protocol, so each has something of its own. */
const DELETIONS = new Set([
  'PolicyService.DeletePolicy',
  'ControlService.DeleteControl',
  'AgentService.DeleteAgent',
]);

function method(rpc: string) {
  const [service, name] = rpc.split('.');
  const desc = SERVICES.find((one) => one.name === service);
  const found = desc?.methods.find((one) => one.name === name);
  if (desc === undefined || found === undefined) throw new Error(`there is no ${rpc}`);
  return { desc, found };
}

/** What a reply or its metadata says about members without effect. */
async function warningsOf(
  transport: Transport,
  rpc: string,
  message: (desc: DescMessage) => Message,
): Promise<string> {
  const { desc, found } = method(rpc);
  const client = createClient(desc, transport) as unknown as Record<
    string,
    (
      input: Message,
      options: object,
    ) => Promise<{ warnings?: { field: string; code: string; message: string }[] }>
  >;
  let told = '';
  const note = (headers: Headers) => {
    told += headers.get(WARNING) ?? '';
  };
  const reply = await client[found.localName]?.(message(found.input), { onHeader: note, onTrailer: note });
  const listed = (reply?.warnings ?? []).map(({ field, message: text }) => `${field}: ${text}`);
  return [told, ...listed].join(' ');
}

describeServiceOnSqlite('members that the service does not know', ({ call, seed, service }) => {
  let serial = 0;
  beforeAll(async () => {
    await seed.agent(AGENT);
    await seed.control('first-control');
    await call('PUT', '/api/v1/policies', { name: 'first-policy' });
  });

  /** The input of a call, with something of its own to delete. */
  const prepared = async (rpc: string, input: JsonValue): Promise<JsonValue> => {
    serial += 1;
    if (rpc === 'ControlService.DeleteControl') {
      return { controlId: await seed.control(`deleted-control-${serial}`) };
    }
    if (rpc === 'PolicyService.DeletePolicy') {
      const { body } = await call('PUT', '/api/v1/policies', { name: `deleted-policy-${serial}` });
      return { policyId: body.policy_id as number };
    }
    if (rpc === 'AgentService.DeleteAgent') {
      await seed.agent(`deleted-future-agent-${serial}`);
      return { agentName: `deleted-future-agent-${serial}` };
    }
    if (rpc === 'PolicyService.DeleteAgentPolicy') {
      await call('POST', `/api/v1/agents/${AGENT}/policies/1`);
    }
    return JSON.parse(JSON.stringify(input).replaceAll('#', String(serial))) as JsonValue;
  };

  it('are sent to every RPC that changes something', () => {
    const events = /Event/;
    const changing = SERVICES.flatMap((one) =>
      one.methods
        .filter(
          ({ methodKind, name }) =>
            methodKind === 'unary' && !/^(?:Get|List|Query|Evaluate|Explain|Verify)/.test(name),
        )
        .filter(({ name }) => !events.test(name))
        .map(({ name }) => `${one.name}.${name}`),
    );
    expect(CALLS.map(([rpc]) => rpc).sort()).toEqual(changing.sort());
    for (const rpc of DELETIONS) expect(changing).toContain(rpc);
  });

  describe.each(RPC_PROTOCOLS)('over %s', (protocol) => {
    it.each(CALLS)('are reported by %s', async (rpc, input) => {
      const plain = await prepared(rpc, input);
      const told = await warningsOf(rpcTransport(protocol, service().url), rpc, (desc) => {
        const message = fromJson(desc, plain);
        message.$unknown = FUTURE;
        return message;
      });
      expect(told).toContain('unknown field with the number 5000');
    });

    it('are reported at every place of a definition', async () => {
      const client = createClient(ControlService, rpcTransport(protocol, service().url));
      const definition = fromJson(ControlDefinitionSchema, {
        ...DATA,
        scope: { stepTypes: ['tool'] },
        condition: { and: { conditions: [{ not: DATA.condition }] } },
        action: { decision: 'DECISION_STEER', steeringContext: { message: 'ask' } },
      });
      const { condition, scope, action } = definition;
      const list = condition?.and;
      const not = list?.conditions[0]?.not;
      const places: [string, Message | undefined][] = [
        ['data', definition],
        ['data.scope', scope],
        ['data.condition', condition],
        ['data.condition.and', list],
        ['data.condition.and[0]', list?.conditions[0]],
        ['data.condition.and[0].not', not],
        ['data.condition.and[0].not.selector', not?.selector],
        ['data.condition.and[0].not.evaluator', not?.evaluator],
        ['data.action', action],
        ['data.action.steering_context', action?.steeringContext],
      ];
      for (const [place, message] of places) {
        if (message === undefined) throw new Error(`there is no ${place}`);
        message.$unknown = FUTURE;
      }
      serial += 1;
      const created = await client.createControl({ name: `nested-${serial}`, data: definition });
      const unknown = created.warnings.filter(({ code }) => code === 'unknown_member');
      expect(unknown.map(({ field }) => field).sort()).toEqual(places.map(([place]) => place).sort());
      const strict = client.setControlData({ controlId: created.controlId, data: definition, strict: true });
      await expect(strict).rejects.toThrow(/strict mode refuses/);
    });

    it('are reported inside of a template', async () => {
      const client = createClient(ControlService, rpcTransport(protocol, service().url));
      const definition = fromJson(ControlDefinitionSchema, TEMPLATE);
      const word = definition.template?.parameters.word;
      if (definition.template === undefined || word === undefined) throw new Error('there is no template');
      definition.template.$unknown = FUTURE;
      word.$unknown = FUTURE;
      serial += 1;
      const { warnings } = await client.createControl({ name: `template-${serial}`, data: definition });
      const unknown = warnings.filter(({ code }) => code === 'unknown_member').map(({ field }) => field);
      expect(unknown.sort()).toEqual(['data.template', 'data.template.parameters.word']);
    });

    it('are lost by a client that writes back what it has read, unless it demands the version', async () => {
      const client = createClient(ControlService, rpcTransport(protocol, service().url));
      serial += 1;
      const data = fromJson(ControlDefinitionSchema, DATA);
      const { controlId, version } = await client.createControl({ name: `written-back-${serial}`, data });
      await client.setControlData({
        controlId,
        data: create(ControlDefinitionSchema, { ...data, tags: ['new'] }),
      });
      const late = client.setControlData({ controlId, data, ifVersion: version });
      await expect(late).rejects.toThrow(/has version 2/);
      expect((await client.getControlData({ controlId })).data?.tags).toEqual(['new']);
    });
  });

  it.each(CALLS)('are reported by %s over Connect with JSON', async (rpc, input) => {
    const { desc, found } = method(rpc);
    const plain = (await prepared(rpc, input)) as object;
    const reply = await call('POST', `/${desc.typeName}/${found.name}`, { ...plain, futureMember: 1 });
    expect(reply.status).toBe(200);
    const told = `${reply.headers.get(`trailer-${WARNING}`)} ${JSON.stringify(reply.body)}`;
    expect(told).toContain('unknown member');
  });

  it.each([
    ['POST', '/api/v1/agents/initAgent', { agent: { agent_name: AGENT, future: 1 } }, 'agent.future'],
    ['POST', '/api/v1/agents/initAgent', { agent: { agent_name: AGENT }, future: 1 }, 'future'],
    ['PATCH', '/api/v1/controls/1', { enabled: true, future: 1 }, 'future'],
    ['PATCH', `/api/v1/agents/${AGENT}`, { remove_evaluators: ['x'], future: 1 }, 'future'],
    ['PATCH', '/api/v1/policies/1', { name: 'patched', future: 1 }, 'future'],
    ['POST', '/api/v1/policies/1/agents', { agent_names: [AGENT], future: 1 }, 'future'],
    ['POST', '/api/v1/policies/1/agents/remove', { agent_names: [AGENT], future: 1 }, 'future'],
    ['POST', '/api/v1/policies/1/controls/1?future=1', undefined, 'future'],
    ['DELETE', '/api/v1/policies/1/controls/1?future=1', undefined, 'future'],
    ['POST', `/api/v1/agents/${AGENT}/controls/1?future=1`, undefined, 'future'],
    ['DELETE', `/api/v1/agents/${AGENT}/controls/1?future=1`, undefined, 'future'],
  ])('are reported by %s %s', async (verb, path, body, field) => {
    const reply = await call(verb, path, body);
    expect(reply.status).toBe(200);
    expect(`${reply.headers.get(WARNING)} ${JSON.stringify(reply.body)}`).toContain(field);
    expect(`${reply.headers.get(WARNING)} ${JSON.stringify(reply.body)}`).toMatch(
      /unknown (?:member|query parameter)/,
    );
  });
});
