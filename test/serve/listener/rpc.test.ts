import { create } from '@bufbuild/protobuf';
import { createClient, type Transport as RpcTransport } from '@connectrpc/connect';
import { fastifyConnectPlugin } from '@connectrpc/connect-fastify';
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
} from '@connectrpc/connect-node';
import { afterEach, describe, expect, it } from 'vitest';
import {
  type EvaluateStreamRequest,
  EvaluateStreamRequestSchema,
  EvaluationService,
} from '../../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import { type Harness, type HarnessOptions, startHarness } from './support/harness.js';
import { TEST_CREDENTIALS, TRANSPORTS } from './support/transports.js';

const WITH_RPC: HarnessOptions = {
  register: async (app) => {
    await app.register(fastifyConnectPlugin, {
      routes: (router) =>
        router.service(EvaluationService, {
          evaluate: (request) => ({ isSafe: request.agentName === 'good', confidence: 1 }),
          evaluateStream: async function* (requests) {
            for await (const { id } of requests) yield { id };
          },
        }),
    });
  },
};

describe.each(TRANSPORTS)('RPC over $name', (transport) => {
  let harness: Harness;
  afterEach(() => harness.stop());

  function options(httpVersion: '1.1' | '2') {
    return {
      baseUrl: `${transport.scheme}://127.0.0.1:${harness.port}`,
      httpVersion,
      nodeOptions: transport.tls ? { ca: TEST_CREDENTIALS.cert } : {},
    };
  }

  it.each<[string, () => RpcTransport]>([
    ['gRPC', () => createGrpcTransport(options('2'))],
    ['gRPC-Web over HTTP/1.1', () => createGrpcWebTransport(options('1.1'))],
    ['gRPC-Web over HTTP/2', () => createGrpcWebTransport(options('2'))],
    ['Connect over HTTP/1.1', () => createConnectTransport(options('1.1'))],
    ['Connect over HTTP/2', () => createConnectTransport(options('2'))],
  ])('answers a unary call by %s', async (_name, connect) => {
    harness = await startHarness(transport, WITH_RPC);
    const client = createClient(EvaluationService, connect());
    expect((await client.evaluate({ agentName: 'good' })).isSafe).toBe(true);
    expect((await client.evaluate({ agentName: 'bad' })).isSafe).toBe(false);
  });

  it.each<[string, () => RpcTransport]>([
    ['gRPC', () => createGrpcTransport(options('2'))],
    ['Connect', () => createConnectTransport(options('2'))],
  ])('answers each message of a stream before the next is sent, by %s', async (_name, connect) => {
    harness = await startHarness(transport, WITH_RPC);
    const client = createClient(EvaluationService, connect());
    let answered = () => {};
    async function* requests(): AsyncGenerator<EvaluateStreamRequest> {
      for (const id of ['a', 'b', 'c']) {
        const reply = new Promise<void>((resolve) => {
          answered = resolve;
        });
        yield create(EvaluateStreamRequestSchema, { id });
        await reply;
      }
    }
    const ids: string[] = [];
    for await (const { id } of client.evaluateStream(requests())) {
      ids.push(id);
      answered();
    }
    expect(ids).toEqual(['a', 'b', 'c']);
  });
});
