import { fromBinary } from '@bufbuild/protobuf';
import { status } from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EvaluateStreamResponseSchema } from '../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import { sendHttp, sendRaw } from '../support/bad-input-http.js';
import {
  callConnect,
  callConnectRaw,
  callConnectStreamRaw,
  callGrpc,
  callGrpcRaw,
  callGrpcWeb,
  callGrpcWebRaw,
  violationsOf,
} from '../support/bad-input-rpc.js';
import { describeOnEachDatabase } from '../support/databases.js';
import { restClient } from '../support/rest-client.js';
import { startService, type TestService } from '../support/service.js';
import { DEFINITION } from './definitions.js';
import { RAW_CASES } from './raw-cases.js';
import { AGENT, BAD_REQUESTS, CONTROL, CONTROL_ID, MAX_BODY_BYTES } from './rest-cases.js';
import { bytesOf } from './rest-request.js';
import { BAD_MESSAGES } from './rpc-cases.js';
import { GOOD, STREAM_CASES, type StreamAnswer } from './stream-cases.js';
import { TRANSPORT_CASES } from './transport-cases.js';

/** No answer may take longer. */
const ANSWER_LIMIT_MS = 5_000;

const CALLS = { gRPC: callGrpcRaw, 'gRPC-Web': callGrpcWebRaw, Connect: callConnectRaw };

/** A reply of EvaluateStream as the table of streams writes it. */
function streamReply(bytes: Buffer): [id: string, ...answers: StreamAnswer[]] {
  const { id, results } = fromBinary(EvaluateStreamResponseSchema, bytes);
  return [
    id,
    ...results.map(({ outcome }): StreamAnswer => {
      if (outcome.case !== 'error') return 'verdict';
      return [status[outcome.value.code] ?? '', ...violationsOf(outcome.value)];
    }),
  ];
}

function sorted(values: readonly unknown[]): string[] {
  return values.map((one) => JSON.stringify(one)).sort();
}

describeOnEachDatabase('bad input', (freshDatabaseUrl) => {
  let service: TestService;

  beforeAll(async () => {
    service = await startService({
      DATABASE_URL: await freshDatabaseUrl(),
      SERVICE_MAX_BODY_BYTES: String(MAX_BODY_BYTES),
    });
    const call = restClient(`${service.url}/api/v1`);
    await call('POST', '/agents/initAgent', { agent: { agent_name: AGENT } });
    await call('PUT', '/controls', { name: CONTROL, data: DEFINITION });
    const linked = await call('POST', `/agents/${AGENT}/controls/${CONTROL_ID}`);
    expect(linked.status).toBe(200);
  });
  afterAll(() => service.stop());

  async function expectHealthy(): Promise<void> {
    const { status, body } = await sendHttp(service, { method: 'GET', path: '/health' });
    expect({ status, body: JSON.parse(body.toString()) }).toMatchObject({
      status: 200,
      body: { status: 'healthy', database: 'up' },
    });
  }

  describe('over REST is refused', () => {
    it.each(BAD_REQUESTS)('$name', { timeout: ANSWER_LIMIT_MS }, async (request) => {
      const { method, path, headers = {}, refusal } = request;
      const reply = await sendHttp(service, {
        method,
        path: path.startsWith('//') ? path.slice(1) : `/api/v1${path}`,
        headers,
        body: bytesOf(request.body),
      });
      const body = JSON.parse(reply.body.toString());
      const items = body.errors?.map(({ field = '', code }: Record<string, string>) => [field, code]);
      expect({ status: reply.status, errorCode: body.error_code, items }).toEqual(refusal);
      expect(body.detail).toEqual(expect.any(String));
      await expectHealthy();
    });
  });

  const protocols = { gRPC: callGrpc, 'gRPC-Web': callGrpcWeb, Connect: callConnect };
  describe.each(Object.entries(protocols))('over %s is refused', (_protocol, call) => {
    it.each(BAD_MESSAGES)('$name', { timeout: ANSWER_LIMIT_MS }, async ({ rpc, bytes, refusal }) => {
      const request = typeof bytes === 'function' ? bytes() : bytes;
      const { code, violations } = await call(service, `/enforcement.v1.${rpc}`, request);
      expect({ code, violations }).toEqual(refusal);
      await expectHealthy();
    });
  });

  describe('below the messages of an RPC is refused', () => {
    it.each(TRANSPORT_CASES)('$protocol: $name', { timeout: ANSWER_LIMIT_MS }, async (given) => {
      const { protocol, method = 'POST', path, headers = {}, code } = given;
      const body = typeof given.body === 'function' ? given.body() : given.body;
      const outcome = await CALLS[protocol](service, { method, path, headers, body });
      expect(outcome).toMatchObject({ code, replies: [] });
      await expectHealthy();
    });
  });

  const streams = { gRPC: callGrpcRaw, Connect: callConnectStreamRaw };
  describe.each(Object.entries(streams))('in a stream over %s is refused', (_protocol, call) => {
    it.each(STREAM_CASES)('$name', { timeout: ANSWER_LIMIT_MS }, async ({ rest, replies, code }) => {
      const outcome = await call(service, {
        path: '/enforcement.v1.EvaluationService/EvaluateStream',
        body: GOOD,
        afterAnswer: typeof rest === 'function' ? rest() : rest,
      });
      expect(outcome.code).toBe(code);
      expect(sorted(outcome.replies.map(streamReply))).toEqual(sorted(replies));
      await expectHealthy();
    });
  });

  describe('as bytes is refused', () => {
    it.each(RAW_CASES)('$name', { timeout: ANSWER_LIMIT_MS }, async ({ statuses, ...request }) => {
      const reply = await sendRaw(service, request);
      expect(reply.statuses).toEqual(statuses);
      await expectHealthy();
    });
  });
});
