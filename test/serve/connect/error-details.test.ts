import { fromBinary } from '@bufbuild/protobuf';
import { Code, ConnectError, createClient } from '@connectrpc/connect';
import { Metadata } from '@grpc/grpc-js';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AgentService } from '../../../gen/proto/enforcement/v1/agent_service_pb.js';
import { ControlService } from '../../../gen/proto/enforcement/v1/control_service_pb.js';
import { EvaluationService } from '../../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import {
  BadRequestSchema,
  ErrorInfoSchema,
  HelpSchema,
  PreconditionFailureSchema,
  QuotaFailureSchema,
  ResourceInfoSchema,
  RetryInfoSchema,
} from '../../../gen/proto/google/rpc/error_details_pb.js';
import { StatusSchema } from '../../../gen/proto/google/rpc/status_pb.js';
import { ERROR_TABLE, type ErrorCode } from '../../../src/contract/errors/error-table.js';
import { ServiceError } from '../../../src/contract/errors/service-error.js';
import { statusTrailers } from '../../../src/serve/wire/encode-status.js';
import { toRpcStatus } from '../../../src/serve/wire/error-status.js';
import { rawGrpcCall } from '../../support/grpc-js-client.js';
import { exchange, restClient } from '../../support/http.js';
import { RPC_PROTOCOLS, type RpcProtocol, rpcTransport } from '../../support/rpc-transports.js';
import { denyWord, seeder } from '../../support/seed.js';
import { startService, type TestService } from '../../support/service.js';

/** Clients commonly accept as many bytes of trailers. */
const MAX_TRAILER_BYTES = 8 * 1024;

const failureOf = (call: Promise<unknown>): Promise<ConnectError> =>
  call.then(
    () => expect.fail('the call succeeded'),
    (error: unknown) => ConnectError.from(error),
  );

const typesOf = (error: ConnectError) =>
  error.details.map((detail) => ('type' in detail ? detail.type : detail.desc.typeName).split('.').pop());

describe.each(RPC_PROTOCOLS)('an error over %s', (protocol: RpcProtocol) => {
  let service: TestService;
  let linked: number;
  beforeAll(async () => {
    service = await startService();
    const seed = seeder(restClient(service.url));
    await seed.agent('details-agent-1');
    linked = await seed.control('linked-control', denyWord('x'));
    await seed.link('details-agent-1', linked);
  });
  afterAll(() => service.stop());
  const client = () => createClient(ControlService, rpcTransport(protocol, service.url));

  it('about a resource that does not exist names it', async () => {
    const call = createClient(AgentService, rpcTransport(protocol, service.url)).getAgent({
      agentName: 'nobody-at-all',
    });
    const error = await failureOf(call);
    expect(error.code).toBe(Code.NotFound);
    expect(typesOf(error)).toEqual(['ErrorInfo', 'ResourceInfo', 'Help']);
    expect(error.findDetails(ResourceInfoSchema)).toMatchObject([
      { resourceType: 'Agent', resourceName: 'nobody-at-all' },
    ]);
  });

  it('about the state that a request meets lists preconditions, not members of the request', async () => {
    const error = await failureOf(client().deleteControl({ controlId: linked }));
    expect(error.code).toBe(Code.FailedPrecondition);
    expect(error.findDetails(BadRequestSchema)).toEqual([]);
    const [failure] = error.findDetails(PreconditionFailureSchema);
    expect(failure?.violations).toHaveLength(1);
    expect(failure?.violations[0]?.subject).not.toBe('');
    expect(failure?.violations[0]?.type).toMatch(/^[A-Z_]+$/);
    expect(error.findDetails(ErrorInfoSchema)[0]?.metadata.hint).toContain('force');
  });

  it('about members of the request lists these', async () => {
    const error = await failureOf(
      client()
        .listControls({ limit: 'x' as never })
        .catch(() => client().createControl({ name: '!' })),
    );
    expect(error.code).toBe(Code.InvalidArgument);
    expect(error.findDetails(BadRequestSchema)[0]?.fieldViolations[0]?.field).toBe('name');
    expect(error.findDetails(PreconditionFailureSchema)).toEqual([]);
  });

  it('links to its explanation', async () => {
    const error = await failureOf(client().getControl({ controlId: 999_999 }));
    expect(error.findDetails(HelpSchema)[0]?.links).toMatchObject([
      {
        url: 'urn:control-enforcement:error:control-not-found',
        description: 'Cause and cure: docs/api-guide.md#errors',
      },
    ]);
  });

  it('of one item of a reply has details of the first version only', async () => {
    const step = { case: 'stepJson' as const, value: Buffer.from('{"type":"tool","name":"n","input":{}}') };
    const { results } = await createClient(
      EvaluationService,
      rpcTransport(protocol, service.url),
    ).evaluateBatch({
      evaluations: [{ agentName: 'nobody-at-all', stage: 1, stepForm: step }],
    });
    const outcome = results[0]?.outcome;
    if (outcome?.case !== 'error') return expect.fail('there is no error');
    expect(outcome.value.details.map(({ typeUrl }) => typeUrl)).toEqual([
      'type.googleapis.com/google.rpc.ErrorInfo',
    ]);
  });
});

describe('a call beyond a limit', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startService({ SERVICE_API_KEY_ENABLED: 'true', SERVICE_ADMIN_API_KEYS: 'admin-key' });
    // Wrong keys, until no key of the address is checked.
    const call = restClient(service.url);
    for (let index = 0; index < 100; index += 1) {
      const { status } = await call('GET', '/api/v1/agents', undefined, { 'x-api-key': `guess-${index}` });
      if (status === 429) return;
    }
    expect.fail('there is no limit');
  });
  afterAll(() => service.stop());
  const headers = { 'x-api-key': 'one-more-guess' };

  it.each(RPC_PROTOCOLS)('states what it counts for and when to retry, over %s', async (protocol) => {
    const client = createClient(AgentService, rpcTransport(protocol, service.url));
    const error = await failureOf(client.listAgents({}, { headers }));
    expect(error.code).toBe(Code.ResourceExhausted);
    expect(typesOf(error)).toEqual(['ErrorInfo', 'QuotaFailure', 'RetryInfo', 'Help']);
    expect(error.findDetails(QuotaFailureSchema)[0]?.violations).toMatchObject([{ subject: 'address' }]);
    const seconds = Number(error.findDetails(RetryInfoSchema)[0]?.retryDelay?.seconds);
    expect(seconds).toBeGreaterThan(0);
    const isConnect = protocol.startsWith('Connect');
    expect(error.metadata.get('grpc-retry-pushback-ms')).toBe(isConnect ? null : String(1_000 * seconds));
    expect(error.metadata.get('retry-after')).toBe(isConnect ? String(seconds) : null);
  });

  it('states it in a trailer for clients that share no code with the service', async () => {
    const metadata = new Metadata();
    metadata.set('x-api-key', headers['x-api-key']);
    for (const rpc of ['AgentService/ListAgents', 'EvaluationService/Evaluate']) {
      const { code, trailers } = await rawGrpcCall(
        service,
        `enforcement.v1.${rpc}`,
        Buffer.alloc(0),
        metadata,
      );
      expect(code).toBe(Code.ResourceExhausted);
      expect(trailers?.get('grpc-retry-pushback-ms')[0]).toMatch(/^[1-9]\d*000$/);
    }
  });

  it('states it in Retry-After over Connect with GET', async () => {
    const reply = await exchange(service.url, {
      path: '/enforcement.v1.AgentService/ListAgents?encoding=json&message=%7B%7D',
      headers,
    });
    expect(reply.status).toBe(429);
    expect(Number(reply.headers['retry-after'])).toBeGreaterThan(0);
    expect(reply.headers['grpc-retry-pushback-ms']).toBeUndefined();
  });
});

describe('the trailers of any error', () => {
  const texts = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 1_000 }),
    fc.nat(1_000).map((length) => '漢'.repeat(length)),
    fc.nat(1_000).map((length) => '🙂'.repeat(length)),
    fc.nat(1_000).map((length) => 'a'.repeat(length)),
  );
  const codes = Object.keys(ERROR_TABLE) as ErrorCode[];
  const errors = fc
    .record({
      code: fc.constantFrom(...codes),
      detail: texts,
      hint: texts,
      name: texts,
      quota: fc.constantFrom('API key', undefined),
      retryAfterSeconds: fc.option(fc.double({ min: 0, max: 3_600, noNaN: true }), { nil: undefined }),
      items: fc.array(fc.record({ field: texts, message: texts }), { maxLength: 25 }),
    })
    .map(
      ({ code, items, quota, retryAfterSeconds, ...rest }) =>
        new ServiceError(code, {
          ...rest,
          kind: 'Control',
          ...(quota === undefined || code !== 'RATE_LIMITED' ? {} : { quota }),
          ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
          items: items.map((item) => ({ resource: 'Control', code: 'in_use', ...item })),
        }),
    );

  it('are smaller than what clients accept', () => {
    fc.assert(
      fc.property(errors, (error) => {
        const status = toRpcStatus(error);
        const trailers = statusTrailers(status);
        const size = Object.entries(trailers).reduce(
          (sum, [name, value]) => sum + name.length + String(value).length + 4,
          0,
        );
        // Warnings and the revision may be in the same block.
        expect(size).toBeLessThan(MAX_TRAILER_BYTES - 1_100);
        const bytes = Buffer.from(String(trailers['grpc-status-details-bin']), 'base64');
        expect(fromBinary(StatusSchema, bytes).code).toBe(status.code);
        expect(() => decodeURIComponent(String(trailers['grpc-message']))).not.toThrow();
      }),
      { numRuns: 100 },
    );
  });

  it('contain every problem of an ordinary error', () => {
    const items = Array.from({ length: 20 }, (_, index) => ({
      resource: 'Control' as const,
      field: `data.condition.and[${index}].evaluator.config.pattern`,
      code: 'missing',
      message: 'is missing; a pattern is a text with at least one character',
    }));
    const [, bad] = toRpcStatus(new ServiceError('VALIDATION_ERROR', { detail: 'Invalid.', items })).details;
    expect(bad?.value.fieldViolations).toHaveLength(20);
  });
});
