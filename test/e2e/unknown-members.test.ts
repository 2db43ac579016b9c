import {
  create,
  type DescMethodUnary,
  fromJson,
  getOption,
  type JsonValue,
  type Message,
} from '@bufbuild/protobuf';
import { WireType } from '@bufbuild/protobuf/wire';
import { createClient } from '@connectrpc/connect';
import { beforeAll, describe, expect, it } from 'vitest';
import { ControlDefinitionSchema } from '../../gen/proto/enforcement/v1/control_pb.js';
import { ControlService } from '../../gen/proto/enforcement/v1/control_service_pb.js';
import { evaluation } from '../../gen/proto/enforcement/v1/options_pb.js';
import { describeOnSqlite } from '../support/databases.js';
import { restClient } from '../support/http.js';
import { methodNamed, protoJson } from '../support/protocol-clients.js';
import { RPC_PROTOCOLS, type RpcProtocol } from '../support/rpc-transports.js';
import { startService } from '../support/service.js';
import { describeServiceOnSqlite } from '../support/service-suite.js';
import { suiteTransports } from '../support/suite-transports.js';
import { STEPS } from './every-rpc.steps.js';
import {
  ADMIN_KEY,
  inputOf,
  OPERATOR_KEY,
  READER_KEY,
  type Step,
  TOKEN_SETTINGS,
} from './every-rpc.support.js';

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

/** Evaluations, and requests with events, are too frequent to be searched. */
const isSearched = (rpc: string) => {
  const method = methodNamed(rpc);
  return !getOption(method, evaluation) && !method.input.fields.some(({ name }) => name === 'events');
};
/** The calls of the script that every protocol plays which have an effect or a reply. */
const PLAYED = STEPS.filter(({ expected }) => 'reply' in expected);
const RPCS = [...new Set(PLAYED.map(({ rpc }) => rpc))].filter(isSearched);

/** Searches may refuse filters that they do not know, which would find what is not looked for. */
const MAY_REFUSE = /^(?:Observability|Audit|Auth)Service\.|\.CloneAndBindControl$/;
const TOLD = /unknown (?:field with the number 5000|member|filter)/;

const transportTo = suiteTransports();

type Send = (url: string, step: Step, isFuture: boolean) => Promise<string>;

/** Sends a message, of the future with an unknown field; what the reply or its metadata says about members without effect. */
const sendMessage =
  (protocol: RpcProtocol): Send =>
  async (url, { rpc, input, key }, isFuture) => {
    const method = methodNamed(rpc) as DescMethodUnary;
    const message = fromJson(method.input, protoJson(method.input, input));
    if (isFuture) message.$unknown = FUTURE;
    const headers = { 'x-api-key': key ?? '' };
    const transport = transportTo(protocol, url);
    const reply = await transport.unary(method, undefined, undefined, headers, message);
    const { warnings = [] } = reply.message as { warnings?: { field: string; message: string }[] };
    const listed = warnings.map(({ field, message: text }) => `${field}: ${text}`);
    return [reply.header.get(WARNING), reply.trailer.get(WARNING), ...listed].join(' ');
  };

/** The same in JSON. */
const sendJson: Send = async (url, { rpc, input, key }, isFuture) => {
  const { parent, name, input: desc } = methodNamed(rpc);
  const body = { ...protoJson(desc, input), ...(isFuture ? { futureMember: 1 } : {}) };
  const headers = { 'x-api-key': key ?? '' };
  const reply = await restClient(url)('POST', `/${parent.typeName}/${name}`, body, headers);
  if (reply.status !== 200) throw new Error(JSON.stringify(reply.body));
  return `${reply.headers.get(`trailer-${WARNING}`)} ${JSON.stringify(reply.body)}`;
};

/** One over each version of HTTP after the other: what is said of members does not depend on it. */
function byTurns(...senders: readonly Send[]): Send {
  let sent = 0;
  return (...given) => {
    const send = senders[sent % senders.length] as Send;
    sent += 1;
    return send(...given);
  };
}

const SENDERS: [protocol: string, send: Send][] = [
  ['gRPC', sendMessage('gRPC')],
  ['gRPC-Web', byTurns(sendMessage('gRPC-Web over HTTP/1.1'), sendMessage('gRPC-Web over HTTP/2'))],
  ['Connect', byTurns(sendMessage('Connect over HTTP/1.1'), sendMessage('Connect over HTTP/2'))],
  ['Connect with JSON', sendJson],
];

describeOnSqlite('members that no RPC knows', (freshDatabaseUrl) => {
  describe.each(SENDERS)('over %s', (_protocol, send) => {
    const told = new Map<string, string>();
    beforeAll(async () => {
      const service = await startService({
        DATABASE_URL: await freshDatabaseUrl(),
        SERVICE_API_KEY_ENABLED: 'true',
        SERVICE_API_KEYS: READER_KEY,
        SERVICE_ADMIN_API_KEYS: ADMIN_KEY,
        SERVICE_OPERATOR_API_KEYS: OPERATOR_KEY,
        ...TOKEN_SETTINGS,
      });
      const asAdmin = restClient(service.url, { 'x-api-key': ADMIN_KEY });
      for (const step of PLAYED) {
        // Once for each RPC: an update that would change nothing but what is unknown is refused.
        const isFirst = !told.has(step.rpc);
        const mayRefuse = isFirst && MAY_REFUSE.test(step.rpc);
        const input = await inputOf(step, async () => (await asAdmin('GET', '/api/v1/samples')).body);
        const reply = send(service.url, { ...step, input }, isFirst);
        const warnings = await (mayRefuse ? reply.catch(String) : reply);
        if (isFirst) told.set(step.rpc, warnings);
      }
      await service.stop();
    });

    it.each(RPCS)('are reported by %s', (rpc) => {
      expect(told.get(rpc)).toMatch(TOLD);
    });
  });
});

describeServiceOnSqlite('members that the service does not know', ({ call, seed, service }) => {
  let serial = 0;
  beforeAll(async () => {
    await seed.agent(AGENT);
    await seed.control('first-control');
    await call('PUT', '/api/v1/policies', { name: 'first-policy' });
  });

  describe.each(RPC_PROTOCOLS)('over %s', (protocol) => {
    it('are reported at every place of a definition', async () => {
      const client = createClient(ControlService, transportTo(protocol, service.url));
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
      const client = createClient(ControlService, transportTo(protocol, service.url));
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
      const client = createClient(ControlService, transportTo(protocol, service.url));
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
