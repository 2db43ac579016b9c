import http2 from 'node:http2';
import { create, toBinary } from '@bufbuild/protobuf';
import { createClient } from '@connectrpc/connect';
import { createConnectTransport, createGrpcTransport } from '@connectrpc/connect-node';
import { expect, it } from 'vitest';
import { AgentService } from '../../gen/proto/enforcement/v1/agent_service_pb.js';
import { Stage } from '../../gen/proto/enforcement/v1/control_pb.js';
import {
  EvaluateStreamRequestSchema,
  EvaluationService,
} from '../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import { describeService } from '../support/service-suite.js';
import { errorOfReply, errorOfRpc } from '../support/told-errors.js';

const AGENT = 'targeted-agent-01';
const INIT = '/api/v1/agents/initAgent';
const EVALUATION = '/api/v1/evaluation';
const HEADER = 'x-service-warning';
const SAID =
  'target_type: target_type and target_id have no effect: this service binds no controls to targets';
const PAIR = { target_type: 'env', target_id: 'prod' };
const step = { type: 'llm', name: 'answer', input: 'bad' };
const asking = { agent_name: AGENT, stage: 'pre', step };
const message = { agentName: AGENT, stage: Stage.PRE, targetType: 'env', targetId: 'prod' };
const stepForm = { case: 'stepJson', value: Buffer.from(JSON.stringify(step)) } as const;

/** A target that lacks something, and what is missing. */
const HALVES: [object, string][] = [
  [{ target_type: 'env' }, 'target_id'],
  [{ target_id: 'prod' }, 'target_type'],
  [{ target_type: 'env', target_id: null }, 'target_id'],
];
const ODD: [object, string, string][] = [
  [{ ...PAIR, target_id: '' }, 'target_id', 'string_too_short'],
  [{ ...PAIR, target_type: 'x'.repeat(256) }, 'target_type', 'string_too_long'],
  [{ ...PAIR, target_id: 7 }, 'target_id', 'string_type'],
];

describeService('a target', ({ call, seed, service }) => {
  const controlsOf = (query: Record<string, string>) =>
    call('GET', `/api/v1/agents/${AGENT}/controls?${new URLSearchParams(query)}`);

  it('is reported to have no effect by initAgent, in the reply and in the header', async () => {
    const agent = { agent_name: AGENT };
    const reply = await call('POST', INIT, { agent, ...PAIR });
    expect(reply.status).toBe(200);
    const [warning] = reply.body.warnings;
    expect(reply.body.warnings).toEqual([
      { code: 'no_effect', field: 'target_type', message: SAID.slice('target_type: '.length) },
    ]);
    expect(reply.headers.get(HEADER)).toBe(SAID);
    const registered = (await call('GET', `/api/v1/agents/${AGENT}`)).body;
    expect(JSON.stringify(registered)).not.toContain('prod');

    const client = createClient(AgentService, createGrpcTransport({ baseUrl: service.url }));
    const trailers: (string | null)[] = [];
    const told = await client.initAgent(
      { agent: { agentName: AGENT }, targetType: 'env', targetId: 'prod' },
      { onTrailer: (trailer) => trailers.push(trailer.get(HEADER)) },
    );
    expect(told.warnings).toMatchObject([warning]);
    expect(trailers).toEqual([SAID]);
    const usual = await call('POST', INIT, { agent, target_type: null, target_id: null });
    expect(usual.body).not.toHaveProperty('warnings');
    expect(usual.headers.get(HEADER)).toBeNull();
  });

  it('changes no verdict, and is reported to have no effect by a header or trailer', async () => {
    await seed.linked(AGENT, 'target-deny');
    const unsafe = await call('POST', EVALUATION, { ...asking, ...PAIR });
    expect(unsafe).toMatchObject({ status: 200, body: { is_safe: false } });
    expect(unsafe.headers.get(HEADER)).toBe(SAID);
    for (const more of [{}, { target_type: null, target_id: null }]) {
      const usual = await call('POST', EVALUATION, { ...asking, ...more });
      expect(usual).toMatchObject({ status: 200, body: { is_safe: false } });
      expect(usual.headers.get(HEADER)).toBeNull();
    }
    // With a query the request is served beside the lane.
    expect((await call('POST', `${EVALUATION}?`, { ...asking, ...PAIR })).headers.get(HEADER)).toBe(SAID);
    for (const connect of [createGrpcTransport, createConnectTransport]) {
      const transport = connect({ baseUrl: service.url, httpVersion: '2' });
      const client = createClient(EvaluationService, transport);
      const trailers: (string | null)[] = [];
      const options = { onTrailer: (trailer: Headers) => trailers.push(trailer.get(HEADER)) };
      expect((await client.evaluate({ ...message, stepForm }, options)).isSafe).toBe(false);
      await client.evaluate({ agentName: AGENT, stage: Stage.PRE, stepForm }, options);
      expect(trailers).toEqual([SAID, null]);
    }
  });

  it('is reported once for a batch, and once for a stream', async () => {
    await seed.agent(AGENT);
    const evaluations = [asking, { ...asking, ...PAIR }, { ...asking, ...PAIR }];
    const batch = await call('POST', `${EVALUATION}/batch`, { evaluations });
    expect(batch.status).toBe(200);
    expect(batch.headers.get(HEADER)).toBe(SAID);
    expect((await call('POST', `${EVALUATION}/batch`, { evaluations: [asking] })).headers.get(HEADER)).toBe(
      null,
    );

    const transport = createGrpcTransport({ baseUrl: service.url });
    const client = createClient(EvaluationService, transport);
    const trailers: (string | null)[] = [];
    const options = { onTrailer: (trailer: Headers) => trailers.push(trailer.get(HEADER)) };
    const one = { ...message, stepForm };
    await client.evaluateBatch({ evaluations: [one, one] }, options);
    const requests = [0, 1, 2].map((id) =>
      create(EvaluateStreamRequestSchema, { id: String(id), evaluations: [one, one] }),
    );
    const bytes = Buffer.concat(
      requests.map((request) => framed(toBinary(EvaluateStreamRequestSchema, request))),
    );
    trailers.push(await trailerOf(service.url, '/enforcement.v1.EvaluationService/EvaluateStream', bytes));
    expect(trailers).toEqual([SAID, SAID]);
  });

  it('is reported to have no effect when the controls of an agent are listed', async () => {
    await seed.agent(AGENT);
    const reply = await controlsOf(PAIR);
    expect(reply.status).toBe(200);
    expect(reply.headers.get(HEADER)).toBe(SAID);
    expect((await controlsOf({})).headers.get(HEADER)).toBeNull();
    const client = createClient(AgentService, createGrpcTransport({ baseUrl: service.url }));
    const trailers: (string | null)[] = [];
    await client.listAgentControls(
      { agentName: AGENT, targetType: 'env', targetId: 'prod' },
      { onTrailer: (trailer) => trailers.push(trailer.get(HEADER)) },
    );
    expect(trailers).toEqual([SAID]);
  });

  it.each(HALVES)(
    'is refused when it is half a pair, without a field in bodies: %j',
    async (half, missing) => {
      const item = {
        field: '',
        code: 'value_error',
        message: expect.stringContaining(`${missing} is missing`),
      };
      const refused = { status: 422, reason: 'VALIDATION_ERROR', items: [item] };
      const agent = { agent_name: AGENT };
      expect(errorOfReply(await call('POST', INIT, { agent, ...half }))).toMatchObject(refused);
      expect(errorOfReply(await call('POST', EVALUATION, { ...asking, ...half }))).toMatchObject(refused);
      const batch = await call('POST', `${EVALUATION}/batch`, {
        evaluations: [{ ...asking, ...half }, asking],
      });
      const [first, second] = batch.body.results;
      expect(errorOfReply({ ...batch, status: first.error.status, body: first.error })).toMatchObject(
        refused,
      );
      expect(second.error?.status).not.toBe(422);
      const invalid = { ...refused, status: 'InvalidArgument' };
      const { url } = service;
      expect(await errorOfRpc(url, 'AgentService.InitAgent', { agent, ...half })).toMatchObject(invalid);
      expect(await errorOfRpc(url, 'EvaluationService.Evaluate', { ...asking, ...half })).toMatchObject(
        invalid,
      );
    },
  );

  it.each(HALVES)('is refused at the missing half in the query: %j', async (half, missing) => {
    const given = Object.fromEntries(Object.entries(half).filter(([, value]) => value !== null));
    const item = { field: missing, code: 'missing_target_pair' };
    const refused = { status: 422, reason: 'VALIDATION_ERROR', items: [item] };
    expect(errorOfReply(await controlsOf(given))).toMatchObject(refused);
    const input = { agent_name: AGENT, ...given };
    expect(await errorOfRpc(service.url, 'AgentService.ListAgentControls', input)).toMatchObject({
      ...refused,
      status: 'InvalidArgument',
    });
  });

  it.each(ODD)(
    'is refused when a half is no text of 1 to 255 characters: %j',
    async (target, field, code) => {
      const refused = { status: 422, items: [{ field, code }] };
      expect(errorOfReply(await call('POST', EVALUATION, { ...asking, ...target }))).toMatchObject(refused);
      expect(
        errorOfReply(await call('POST', INIT, { agent: { agent_name: AGENT }, ...target })),
      ).toMatchObject(refused);
    },
  );
});

function framed(bytes: Uint8Array): Buffer {
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(bytes.length, 1);
  return Buffer.concat([prefix, bytes]);
}

/** The warning in the trailers of a gRPC call that takes a stream. */
function trailerOf(url: string, path: string, body: Buffer): Promise<string | null> {
  const session = http2.connect(url);
  return new Promise<string | null>((resolve, reject) => {
    session.on('error', reject);
    const stream = session.request({
      ':method': 'POST',
      ':path': path,
      'content-type': 'application/grpc',
      te: 'trailers',
    });
    stream.on('error', reject);
    stream.on('trailers', (trailers) => resolve((trailers[HEADER] as string | undefined) ?? null));
    stream.resume();
    stream.end(body);
  }).finally(() => session.close());
}
