import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { fromBinary } from '@bufbuild/protobuf';
import { FileDescriptorProtoSchema } from '@bufbuild/protobuf/wkt';
import { type ConnectError, createClient } from '@connectrpc/connect';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  Health,
  HealthCheckResponse_ServingStatus as Status,
} from '../../../gen/proto/grpc/health/v1/health_pb.js';
import { grpcJsClient } from '../../support/grpc-js-client.js';
import { BIDI_PROTOCOLS, RPC_PROTOCOLS, rpcTransport } from '../../support/rpc-transports.js';
import { denyWord } from '../../support/seed.js';
import { startService, type TestService } from '../../support/service.js';
import { suiteService } from '../../support/service-suite.js';

const OWN_SERVICES = [
  'AccessRequestService',
  'AdapterService',
  'AgentService',
  'ApprovalService',
  'AuditService',
  'AuthService',
  'AuthzenService',
  'ConfigurationService',
  'ControlBindingService',
  'ControlService',
  'CoverageService',
  'EvaluationService',
  'EvaluatorService',
  'HaltService',
  'KeyService',
  'MemoryService',
  'NamespaceService',
  'NotificationService',
  'ObservabilityService',
  'PackService',
  'PolicyService',
  'SampleService',
  'ServerService',
  'ShadowService',
  'TemplateService',
].map((name) => `enforcement.v1.${name}`);
const SERVICES = ['agentgateway.dev.ext_mcp.ExtMcp', ...OWN_SERVICES, 'envoy.service.auth.v3.Authorization'];
const NOT_FOUND = 5;

describe('gRPC health', () => {
  const service = suiteService();

  it.each(RPC_PROTOCOLS)('checks the server and each service, over %s', async (protocol) => {
    const client = createClient(Health, rpcTransport(protocol, service.url));
    for (const name of ['', ...SERVICES]) {
      expect((await client.check({ service: name })).status).toBe(Status.SERVING);
    }
    const unknown = await client.check({ service: 'no.Service' }).catch((error: ConnectError) => error);
    expect(unknown).toMatchObject({ code: NOT_FOUND });
  });
  it('lists the state of all', async () => {
    const client = grpcJsClient(service, 'grpc/health/v1/health.proto', 'grpc.health.v1.Health');
    const { statuses } = await new Promise<{ statuses: object }>((done, fail) => {
      client.List?.({}, (error: Error | null, value: { statuses: object }) =>
        error ? fail(error) : done(value),
      );
    });
    expect(statuses).toEqual(
      Object.fromEntries(['', ...SERVICES].map((name) => [name, { status: 'SERVING' }])),
    );
    client.close();
  });
  it('reports an unknown service as unknown, and continues watching', async () => {
    const client = grpcJsClient(service, 'grpc/health/v1/health.proto', 'grpc.health.v1.Health');
    const stream = client.Watch?.({ service: 'no.Service' }) as NodeJS.ReadableStream & { cancel(): void };
    stream.once('error', () => {});
    const first = await new Promise((done) => stream.once('data', done));
    expect(first).toEqual({ status: 'SERVICE_UNKNOWN' });
    stream.cancel();
    client.close();
  });
});

describe('gRPC health of a service that stores no events', () => {
  const OBSERVABILITY = 'enforcement.v1.ObservabilityService';

  const service = suiteService({ SERVICE_OBSERVABILITY_ENABLED: 'false' });

  it.each(RPC_PROTOCOLS)('is not serving for ObservabilityService alone, over %s', async (protocol) => {
    const client = createClient(Health, rpcTransport(protocol, service.url));
    const expected = (name: string) => (name === OBSERVABILITY ? Status.NOT_SERVING : Status.SERVING);
    const { statuses } = await client.list({});
    expect(Object.keys(statuses).sort()).toEqual(['', ...SERVICES]);
    for (const [name, { status }] of Object.entries(statuses)) {
      expect([name, status]).toEqual([name, expected(name)]);
      expect((await client.check({ service: name })).status).toBe(status);
      for await (const first of client.watch({ service: name })) {
        expect([name, first.status]).toEqual([name, status]);
        break;
      }
    }
  });
});

describe('watching gRPC health', () => {
  let service: TestService | undefined;
  afterEach(() => service?.stop());

  it.each(BIDI_PROTOCOLS)('reports when the server shuts down, then ends: %s', async (protocol) => {
    service = await startService({ SERVICE_DRAIN_SECONDS: '1' });
    const seen: Status[] = [];
    let stopped: Promise<void> | undefined;
    const client = createClient(Health, rpcTransport(protocol, service.url));
    const watch = async () => {
      for await (const { status } of client.watch({ service: SERVICES[0] ?? '' })) {
        seen.push(status);
        stopped ??= service?.stop();
      }
    };
    const end = await watch().catch((error: ConnectError) => error);
    expect(seen).toEqual([Status.SERVING, Status.NOT_SERVING]);
    expect(end).toMatchObject({ code: 14 });
    await stopped;
    service = undefined;
  });
});

describe.each(['v1', 'v1alpha'])('gRPC reflection %s', (version) => {
  let stream: NodeJS.ReadWriteStream;
  let client: ReturnType<typeof grpcJsClient>;
  const service = suiteService();
  beforeAll(() => {
    client = grpcJsClient(
      service,
      `grpc/reflection/${version}/reflection.proto`,
      `grpc.reflection.${version}.ServerReflection`,
    );
    stream = client.ServerReflectionInfo?.() as NodeJS.ReadWriteStream;
  });
  afterAll(async () => {
    stream.end();
    client.close();
  });
  // biome-ignore lint/suspicious/noExplicitAny: tests look into replies of every shape
  const ask = (question: object): Promise<any> => {
    const reply = once(stream, 'data').then(([first]) => first);
    stream.write(question as never);
    return reply;
  };
  const filesOf = (reply: { file_descriptor_response: { file_descriptor_proto: Uint8Array[] } }) =>
    reply.file_descriptor_response.file_descriptor_proto.map(
      (bytes) => fromBinary(FileDescriptorProtoSchema, bytes).name,
    );

  it('lists the services', async () => {
    const reply = await ask({ list_services: '' });
    const names = reply.list_services_response.service.map((one: { name: string }) => one.name);
    expect(names).toEqual(expect.arrayContaining([...SERVICES, 'grpc.reflection.v1.ServerReflection']));
    expect(names).toContain('grpc.health.v1.Health');
  });
  it('gives a file with all it depends on', async () => {
    const reply = await ask({ file_by_filename: 'enforcement/v1/evaluation_service.proto' });
    expect(filesOf(reply)).toEqual(
      expect.arrayContaining([
        'enforcement/v1/evaluation_service.proto',
        'enforcement/v1/control.proto',
        'enforcement/v1/options.proto',
        'google/api/annotations.proto',
        'google/protobuf/descriptor.proto',
        'google/protobuf/struct.proto',
      ]),
    );
  });
  it.each([
    'enforcement.v1.EvaluationService',
    'enforcement.v1.EvaluationService.Evaluate',
    'enforcement.v1.EvaluateRequest',
    'enforcement.v1.EvaluateRequest.agent_name',
    'enforcement.v1.Detail',
    'enforcement.v1.DETAIL_FULL',
  ])('finds the file of %s', async (symbol) => {
    expect(filesOf(await ask({ file_containing_symbol: symbol }))[0]).toBe(
      'enforcement/v1/evaluation_service.proto',
    );
  });
  it('finds extensions', async () => {
    const extended = 'google.protobuf.MethodOptions';
    const numbers = await ask({ all_extension_numbers_of_type: extended });
    expect(numbers.all_extension_numbers_response.extension_number).toEqual(
      expect.arrayContaining([50101, 50102, 50103]),
    );
    const reply = await ask({
      file_containing_extension: { containing_type: extended, extension_number: 50101 },
    });
    expect(filesOf(reply)[0]).toBe('enforcement/v1/options.proto');
  });
  it.each([
    { file_by_filename: 'nothing.proto' },
    { file_containing_symbol: 'no.Symbol' },
    { file_containing_extension: { containing_type: 'google.protobuf.MethodOptions', extension_number: 1 } },
    { all_extension_numbers_of_type: 'no.Type' },
  ])('reports what it cannot find, and continues: %j', async (question) => {
    expect((await ask(question)).error_response).toMatchObject({ error_code: NOT_FOUND });
    expect((await ask({ list_services: '' })).message_response).toBe('list_services_response');
  });
  it('repeats the question', async () => {
    const reply = await ask({ host: 'here', list_services: 'x' });
    expect(reply).toMatchObject({
      valid_host: 'here',
      original_request: { host: 'here', list_services: 'x' },
    });
  });
});

describe('a generic client that discovers the service by reflection alone', () => {
  const AGENT = 'reflected-agent';

  const service = suiteService();
  const { seed } = service;
  beforeAll(async () => {
    await seed.linked(AGENT, 'no-bad', denyWord('bad'));
  });

  const curl = async (...parameters: string[]) => {
    const buf = resolve(import.meta.dirname, '../../../node_modules/.bin/buf');
    const { stdout } = await promisify(execFile)(buf, ['curl', '--http2-prior-knowledge', ...parameters]);
    return stdout;
  };

  it.each(['grpc-v1', 'grpc-v1alpha'])('lists services and methods over %s', async (reflection) => {
    const flags = ['--protocol', 'grpc', '--reflect', '--reflect-protocol', reflection];
    const services = await curl(...flags, '--list-services', service.url);
    for (const name of SERVICES) expect(services).toContain(name);
    const methods = await curl(...flags, '--list-methods', service.url);
    expect(methods).toContain('enforcement.v1.EvaluationService/Evaluate');
  });
  it.each(['grpc', 'grpcweb', 'connect'])('evaluates a step over %s', async (protocol) => {
    const reply = await curl(
      '--protocol',
      protocol,
      '--reflect',
      '-d',
      JSON.stringify({
        agentName: AGENT,
        stage: 'STAGE_PRE',
        step: { type: 'llm', name: 'n', input: 'a bad thing' },
      }),
      `${service.url}/enforcement.v1.EvaluationService/Evaluate`,
    );
    expect(JSON.parse(reply)).toMatchObject({
      matches: [{ controlName: 'no-bad', action: 'DECISION_DENY' }],
    });
  });
});
