import type { DescService } from '@bufbuild/protobuf';
import { type CallOptions, ConnectError } from '@connectrpc/connect';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AgentService } from '../../gen/proto/enforcement/v1/agent_service_pb.js';
import { AuditService } from '../../gen/proto/enforcement/v1/audit_service_pb.js';
import { ControlService } from '../../gen/proto/enforcement/v1/control_service_pb.js';
import { EvaluationService } from '../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import { EvaluatorService } from '../../gen/proto/enforcement/v1/evaluator_service_pb.js';
import { MemoryService } from '../../gen/proto/enforcement/v1/memory_service_pb.js';
import { ObservabilityService } from '../../gen/proto/enforcement/v1/observability_service_pb.js';
import { PolicyService } from '../../gen/proto/enforcement/v1/policy_service_pb.js';
import { ServerService } from '../../gen/proto/enforcement/v1/server_service_pb.js';
import { TemplateService } from '../../gen/proto/enforcement/v1/template_service_pb.js';
import { type RpcMethod, rpcMethods } from '../../src/serve/descriptors/rpc-methods.js';
import { restClient } from '../support/http.js';
import { createKeysFile } from '../support/keys-file.js';
import { repliesOver, repliesOverRest } from '../support/named-requests.js';
import { denyWord } from '../support/seed.js';
import { suiteService } from '../support/service-suite.js';
import { suiteTransports } from '../support/suite-transports.js';
import { event } from './events.support.js';

const SERVICES: readonly DescService[] = [
  ...[AgentService, AuditService, ControlService, EvaluationService, EvaluatorService],
  ...[MemoryService, ObservabilityService, PolicyService, ServerService, TemplateService],
];
const OWN = 'support-bot-1';
/** Names of the same length, so that replies do not differ in theirs. */
const FOREIGN = 'billing-bot-1';
const MISSING = 'missing-bot-1';
/** Ids with three digits, for the same reason. */
const FIRST_ID = 100;
const MISSING_ID = 999;
const FOREIGN_EVENT = 'foreign-event-1';
const MISSING_EVENT = 'missing-event-1';
const ADMIN = 'the-admin-key-of-1';
const keys = createKeysFile([
  { name: 'root', key: ADMIN, role: 'admin' },
  { name: 'limited-admin', key: 'limited-admin-key', role: 'admin', agents: ['support-*'] },
  { name: 'limited', key: 'limited-regular-1', role: 'regular', agents: ['support-*'] },
]);
const LIMITED = ['limited-admin-key', 'limited-regular-1'];

const evaluatorOf = (agent: string) => ({
  ...denyWord('x'),
  condition: { selector: { path: 'input' }, evaluator: { name: `${agent}:judge`, config: {} } },
});
const templateNaming = (step: string) => ({
  template: { definition_template: { ...denyWord('x'), scope: { step_names: [step] } } },
  template_values: {},
});

describe('a key that is limited to agents', () => {
  const ids = { ownControl: 0, foreignControl: 0, ownPolicy: 0, foreignPolicy: 0 };

  const service = suiteService(keys.environment, { headers: { 'x-api-key': ADMIN } });
  const transportTo = suiteTransports();
  const { call: root, seed } = service;
  beforeAll(async () => {
    await seed.agent(OWN);
    const judge = { name: 'judge', config_schema: { type: 'object', required: ['limit'] } };
    await seed.agent(FOREIGN, {
      steps: [{ type: 'tool', name: 'transfer_money' }],
      evaluators: [judge],
    });
    // Ids of controls and policies that have three digits, as the missing one.
    const made = async (path: string, body: object) => {
      for (let number = 0; ; number += 1) {
        const { control_id, policy_id } = (await root('PUT', path, { ...body, name: `one-${number}` })).body;
        const id = Number(control_id ?? policy_id);
        if (id >= FIRST_ID) return id;
      }
    };
    const first = await made('/api/v1/controls', { data: denyWord('bad') });
    Object.assign(ids, {
      ownControl: first,
      foreignControl: await seed.control('foreign', denyWord('worse')),
    });
    ids.ownPolicy = await made('/api/v1/policies', {});
    ids.foreignPolicy = (await root('PUT', '/api/v1/policies', { name: 'foreign' })).body.policy_id;
    await seed.link(OWN, ids.ownControl);
    await seed.link(FOREIGN, ids.foreignControl);
    await root('POST', `/api/v1/agents/${OWN}/policies/${ids.ownPolicy}`);
    await root('POST', `/api/v1/agents/${FOREIGN}/policies/${ids.foreignPolicy}`);
    await root('POST', `/api/v1/policies/${ids.foreignPolicy}/controls/${ids.foreignControl}`);
    const stored = { ...eventOf(FOREIGN, ids.foreignControl), control_execution_id: FOREIGN_EVENT };
    expect((await root('POST', '/api/v1/observability/events', { events: [stored] })).body).toMatchObject({
      enqueued: 1,
    });
  });
  afterAll(() => keys.remove());

  const step = { type: 'tool', name: 'send_mail', input: { text: 'x' } };
  const eventOf = (agent: string, control: number) => event({ agent_name: agent, control_id: control });
  /** A valid request about what is the caller's own, with every member that names an agent, a control or a policy. */
  function ownRequest({ desc, name }: RpcMethod): Record<string, unknown> {
    const known: Record<string, unknown> = {
      agent_name: OWN,
      agent_names: [OWN],
      agent: { agent_name: OWN },
      control_id: ids.ownControl,
      control_ids: [ids.ownControl],
      control_execution_id: MISSING_EVENT,
      key: { control_id: ids.ownControl, agent_name: OWN },
      policy_id: ids.ownPolicy,
      events: [eventOf(OWN, ids.ownControl)],
      version_num: 1,
      evaluator_name: 'judge',
      stage: 'pre',
      step,
      time_range: '5m',
      name: name.endsWith('UpdatePolicy') ? 'other-name' : undefined,
      enabled: name.endsWith('UpdateControl') ? false : undefined,
      data: /(?:SetControlData|ValidateControl|AddControl)$/.test(name) ? denyWord('other') : undefined,
      evaluations: [{ agent_name: OWN, stage: 'pre', step }],
      stage_filter: undefined,
      target_binding: { target_type: 'env', target_id: 'prod' },
    };
    const members = desc.input.fields.flatMap(({ name: member }) =>
      known[member] === undefined ? [] : [[member, known[member]] as const],
    );
    return Object.fromEntries(members);
  }

  /** Two requests that differ in what they name: what is foreign, and what does not exist. */
  type Pair = readonly [foreign: Record<string, unknown>, missing: Record<string, unknown>];
  /** The members by which a request names something, each with the pairs of values it is replaced by. */
  const namings = (): Record<string, readonly [foreign: unknown, missing: unknown]> => ({
    agent_name: [FOREIGN, MISSING],
    agent_names: [
      [OWN, FOREIGN],
      [OWN, MISSING],
    ],
    agent: [{ agent_name: FOREIGN }, { agent_name: MISSING }],
    control_id: [ids.foreignControl, MISSING_ID],
    control_ids: [[ids.foreignControl], [MISSING_ID]],
    control_execution_id: [FOREIGN_EVENT, MISSING_EVENT],
    key: [
      { control_id: ids.foreignControl, agent_name: FOREIGN },
      { control_id: MISSING_ID, agent_name: MISSING },
    ],
    policy_id: [ids.foreignPolicy, MISSING_ID],
    events: [[eventOf(OWN, ids.foreignControl)], [eventOf(OWN, MISSING_ID)]],
    evaluations: [
      [{ agent_name: FOREIGN, stage: 'pre', step }],
      [{ agent_name: MISSING, stage: 'pre', step }],
    ],
  });

  function pairsOf(method: RpcMethod): [member: string, pair: Pair][] {
    const own = ownRequest(method);
    const pairs = Object.entries(namings())
      .filter(([member]) => Object.hasOwn(own, member))
      .map(([member, [foreign, missing]]): [string, Pair] => [
        member,
        [
          { ...own, [member]: foreign },
          { ...own, [member]: missing },
        ],
      ]);
    // A watch of its own agent does not end.
    if (method.desc.name === 'WatchEvents') return pairs.filter(([member]) => member === 'agent_name');
    if (method.desc.name === 'Explain') {
      const { control_ids: _, ...rest } = own;
      const tried = (agent: string) => ({ ...rest, data: evaluatorOf(agent) });
      pairs.push(['data', [tried(FOREIGN), tried(MISSING)]]);
    }
    if (method.desc.name === 'RenderTemplate') {
      pairs.push(['template', [templateNaming('transfer_money'), templateNaming('transfer_coins')]]);
    }
    return pairs;
  }

  /** A text without what the caller itself wrote, and without what differs between any two calls. */
  const masked = (text: string): string =>
    text
      .replaceAll(
        new RegExp(`${FOREIGN}|${MISSING}|${FOREIGN_EVENT}|${MISSING_EVENT}|transfer_(?:money|coins)`, 'g'),
        'NAME',
      )
      .replaceAll(new RegExp(`\\b(?:${ids.foreignControl}|${ids.foreignPolicy}|${MISSING_ID})\\b`, 'g'), 'ID')
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+(?:Z|\+00:00)/g, 'TIME')
      .replaceAll(/"(?:execution_id|decision_id|duration_ms|step_sha256)":"?[^,"]*"?/g, '');
  const maskedHeaders = (headers: Iterable<readonly [string, unknown]>): string =>
    JSON.stringify(
      [...headers]
        .filter(([name]) => !['date', 'x-request-id'].includes(name))
        .map(([name, value]) => [
          name,
          masked(name.endsWith('-bin') ? binaryText(String(value)) : String(value)),
        ]),
    );

  async function overRest(
    method: RpcMethod,
    request: Record<string, unknown>,
    key: string,
  ): Promise<string[]> {
    const replies: string[] = [];
    for (const reply of await repliesOverRest(service.url, method, request, key)) {
      replies.push(`${reply.status} ${masked(reply.text)} ${maskedHeaders(Object.entries(reply.headers))}`);
    }
    return replies;
  }

  async function overGrpc(
    { desc }: RpcMethod,
    request: Record<string, unknown>,
    key: string,
  ): Promise<string[]> {
    const told: string[] = [];
    const tell = (headers: Headers) => void told.push(maskedHeaders(headers));
    const options: CallOptions = { headers: { 'x-api-key': key }, onHeader: tell, onTrailer: tell };
    const replies = repliesOver(transportTo('gRPC', service.url), desc, request, options);
    try {
      for await (const reply of replies) {
        told.push(masked(JSON.stringify(reply)));
      }
      return ['0', ...told];
    } catch (error) {
      const { code, message: text, metadata } = ConnectError.from(error);
      return [`${code} ${masked(text)}`, ...told, maskedHeaders(metadata)];
    }
  }

  const METHODS = SERVICES.flatMap(rpcMethods).map((method) => [method.desc.name, method] as const);

  it.each(METHODS)('is answered by %s about others as about what does not exist', async (_name, method) => {
    for (const [member, [foreign, missing]] of pairsOf(method)) {
      for (const key of LIMITED) {
        const rest = await overRest(method, foreign, key);
        expect(rest, `${member} over REST`).toEqual(await overRest(method, missing, key));
        expect(rest.join()).not.toContain('VALIDATION_ERROR');
        const grpc = await overGrpc(method, foreign, key);
        expect(grpc, `${member} over gRPC`).toEqual(await overGrpc(method, missing, key));
        expect(grpc.join()).not.toContain('VALIDATION_ERROR');
      }
    }
  });

  it('still removes what its agents have', async () => {
    const limited = restClient(service.url, { 'x-api-key': 'limited-admin-key' });
    const control = await limited('DELETE', `/api/v1/agents/${OWN}/controls/${ids.ownControl}`);
    expect([control.status, control.body.removed_direct_association]).toEqual([200, true]);
    const names = { agent_names: [OWN] };
    const policy = await limited('POST', `/api/v1/policies/${ids.ownPolicy}/agents/remove`, names);
    expect([policy.status, policy.body.removed]).toEqual([200, 1]);
  });

  it('differs from one without a limit, which is told what exists', async () => {
    const differing = [];
    for (const [name, method] of METHODS.filter(([one]) =>
      /^(?:Get(?:Control|Policy|Agent)|Explain)$/.test(one),
    )) {
      const [[, [foreign, missing]]] = pairsOf(method) as [[string, Pair]];
      const replies = await Promise.all([foreign, missing].map((one) => overRest(method, one, ADMIN)));
      if (replies[0]?.[0] !== replies[1]?.[0]) differing.push(name);
    }
    expect(differing.sort()).toEqual(['Explain', 'GetAgent', 'GetControl', 'GetPolicy']);
  });

  it('covers every member that names an agent, a control or a policy', () => {
    const named = METHODS.flatMap(([, { desc }]) => desc.input.fields.map((field) => field.name));
    const naming = named.filter((name) =>
      /^(?:agent|control|policy|template)(?:_ids?|_names?|)$|^control_execution_id$|^(?:events|key)$/.test(
        name,
      ),
    );
    expect([...new Set(naming)].sort()).toEqual(
      [...Object.keys(namings()).filter((name) => name !== 'evaluations'), 'template'].sort(),
    );
  });
});

function binaryText(value: string): string {
  return Buffer.from(value, 'base64').toString('latin1');
}
