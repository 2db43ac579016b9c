import { create, type DescService, type FileRegistry, type Message, toJson } from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import { Metadata } from '@grpc/grpc-js';
import fastify from 'fastify';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type AnyHandler, collectHandler, handler, streamHandler } from '../../src/contract/call/handler.js';
import { ServiceError } from '../../src/contract/errors/service-error.js';
import { freeObject, list, nullable, oneOf, text } from '../../src/contract/input/fields.js';
import { integer } from '../../src/contract/input/numbers.js';
import { createCredentialReader } from '../../src/serve/auth/request-credentials.js';
import { foreignOriginCheck } from '../../src/serve/auth/request-origin.js';
import { registerConnect } from '../../src/serve/connect/connect-plugin.js';
import { createStreamNames } from '../../src/serve/routing/open-streams.js';
import { NO_FAILURES } from '../support/failures.js';
import { grpcJsClient, rawGrpcCall } from '../support/grpc-js-client.js';
import { startHost, type TestHost } from '../support/host.js';
import { restClient } from '../support/http.js';
import { agelessStreams, NO_WITHDRAWALS } from '../support/long-streams.js';
import { createQuietMetrics } from '../support/metrics.js';
import { openAdmission } from '../support/open-admission.js';
import { BIDI_PROTOCOLS, RPC_PROTOCOLS, rpcTransport } from '../support/rpc-transports.js';
import { compileProto } from '../support/scratch-api.js';

const SCRATCH = `
syntax = "proto3";
package scratch.v1;
import "enforcement/v1/options.proto";
import "google/api/annotations.proto";
import "google/protobuf/struct.proto";

service GardenService {
  rpc PlantTree(PlantTreeRequest) returns (PlantTreeResponse) {
    option (google.api.http) = {
      put: "/api/v1/gardens/{garden}/trees"
      body: "*"
      additional_bindings {post: "/orchard/{garden}" body: "*"}
    };
    option (enforcement.v1.access) = ACCESS_ADMIN;
    option (enforcement.v1.scopes) = "controls.write";
    option (enforcement.v1.operation) = "gardens.plant_tree";
    option (enforcement.v1.agent_scope) = AGENT_SCOPE_FREE;
    option (enforcement.v1.success_status) = 202;
  }
  rpc GetTree(GetTreeRequest) returns (GetTreeResponse) {
    option (google.api.http) = {get: "/api/v1/trees/{tree_id}"};
    option (enforcement.v1.access) = ACCESS_KEY;
    option (enforcement.v1.scopes) = "controls.read";
    option (enforcement.v1.operation) = "gardens.get_tree";
    option (enforcement.v1.agent_scope) = AGENT_SCOPE_FREE;
    option (enforcement.v1.nulls) = NULL_RULE_OMIT;
  }
  rpc CountTrees(CountTreesRequest) returns (CountTreesResponse) {
    option (google.api.http) = {get: "/api/v1/trees" response_body: "counts"};
    option (enforcement.v1.access) = ACCESS_PUBLIC;
    option (enforcement.v1.scopes) = "server.read";
    option (enforcement.v1.operation) = "gardens.count_trees";
    option (enforcement.v1.agent_scope) = AGENT_SCOPE_FREE;
  }
  rpc WalkTrees(CountTreesRequest) returns (stream GetTreeResponse) {
    option (google.api.http) = {get: "/api/v1/walk"};
    option (enforcement.v1.access) = ACCESS_KEY;
    option (enforcement.v1.scopes) = "controls.read";
    option (enforcement.v1.operation) = "gardens.walk_trees";
    option (enforcement.v1.agent_scope) = AGENT_SCOPE_FREE;
  }
  rpc Deliver(stream PlantTreeRequest) returns (CountTreesResponse) {
    option (enforcement.v1.access) = ACCESS_KEY;
    option (enforcement.v1.scopes) = "controls.read";
    option (enforcement.v1.operation) = "gardens.deliver";
    option (enforcement.v1.agent_scope) = AGENT_SCOPE_FREE;
  }
}
enum Kind {
  KIND_UNSPECIFIED = 0;
  KIND_BROAD_LEAF = 1;
  KIND_CONIFER = 2;
}
message PlantTreeRequest {
  string garden = 1;
  Kind kind = 2;
  repeated string labels = 3;
  google.protobuf.Struct notes = 4;
}
message PlantTreeResponse {
  Tree tree = 1;
  optional string remark = 2;
}
message GetTreeRequest {
  int32 tree_id = 1;
}
message GetTreeResponse {
  Tree tree = 1;
  optional string remark = 2;
}
message CountTreesRequest {
  optional int32 limit = 1;
}
message CountTreesResponse {
  map<string, int32> counts = 1;
}
message Tree {
  string garden = 1;
  Kind kind = 2;
  repeated string labels = 3;
  google.protobuf.Struct notes = 4;
  optional double height = 5;
}`;

const WITHOUT_ACCESS = `
syntax = "proto3";
package careless.v1;
import "google/api/annotations.proto";
service CarelessService {
  rpc Leak(LeakRequest) returns (LeakResponse) {
    option (google.api.http) = {get: "/api/v1/leak"};
  }
}
message LeakRequest {}
message LeakResponse {}`;

const TREE = { garden: 'north', kind: 'conifer', labels: ['old'], notes: { deep: [1, null] }, height: null };

const HANDLERS: Record<string, AnyHandler> = {
  plantTree: handler(
    z.object({
      garden: text({ min: 2 }),
      kind: oneOf(['broad_leaf', 'conifer']),
      labels: nullable(list(text())),
      notes: nullable(freeObject()),
    }),
    (input, context) => {
      context.reportRevision(7);
      return { tree: { ...input, height: null }, remark: null };
    },
  ),
  getTree: handler(z.object({ tree_id: integer() }), () => ({ tree: TREE, remark: null })),
  countTrees: handler(z.object({ limit: nullable(integer()) }), ({ limit }) => ({
    counts: { oak: limit ?? 3 },
  })),
  walkTrees: streamHandler(z.object({ limit: nullable(integer()) }), async function* ({ limit }) {
    for (let index = 0; index < (limit ?? 3); index += 1) yield { tree: TREE, remark: `tree ${index}` };
    if (limit === 0) throw new ServiceError('AGENT_NOT_FOUND', { detail: 'There are no trees.' });
  }),
  deliver: collectHandler(z.object({ garden: text({ min: 2 }) }), async (items) => {
    const counts: Record<string, number> = {};
    for await (const { garden } of items) counts[garden] = (counts[garden] ?? 0) + 1;
    return { counts };
  }),
};

async function* once<Value>(value: Value): AsyncGenerator<Value> {
  yield value;
}

const ADMIN = { 'x-api-key': 'admin' };
const KEY = { 'x-api-key': 'key' };
const BODY = { kind: 'conifer', labels: ['old'], notes: { deep: [1, null] } };

describe('an RPC that is in a proto file and has a handler', () => {
  let registry: FileRegistry;
  let service: DescService;
  let host: TestHost;
  beforeAll(async () => {
    registry = await compileProto({
      'scratch/v1/garden.proto': SCRATCH,
      'careless/v1/careless.proto': WITHOUT_ACCESS,
    });
    service = registry.getService('scratch.v1.GardenService') as DescService;
    host = await startHost(service, HANDLERS, {
      SERVICE_API_KEY_ENABLED: 'true',
      SERVICE_API_KEYS: 'key',
      SERVICE_ADMIN_API_KEYS: 'admin',
    });
  });
  afterAll(() => host.stop());

  const method = (name: string) => service.methods.find((one) => one.name === name) as never;
  const message = (typeName: string, init: object): Message =>
    create(registry.getMessage(`scratch.v1.${typeName}`) as never, init as never);

  it('is served over REST with its path, status, null rule and every binding', async () => {
    const call = restClient(host.url);
    for (const [verb, path] of [
      ['PUT', '/api/v1/gardens/north/trees'],
      ['POST', '/orchard/north'],
    ] as const) {
      const planted = await call(verb, path, BODY, ADMIN);
      expect(planted).toMatchObject({ status: 202, body: { tree: TREE, remark: null } });
      expect(planted.headers.get('x-service-revision')).toBe('7');
    }
    const read = await call('GET', '/api/v1/trees/5', undefined, KEY);
    const { height: _, ...withoutNull } = TREE;
    expect(read).toMatchObject({ status: 200, body: { tree: withoutNull } });
    expect(JSON.stringify(read.body)).not.toMatch(/"height"|"remark"/);
    expect((await call('GET', '/api/v1/trees?limit=9')).body).toEqual({ oak: 9 });
  });
  it.each(RPC_PROTOCOLS)('is served over %s', async (protocol) => {
    const transport = rpcTransport(protocol, host.url);
    const planted = await transport.unary(
      method('PlantTree'),
      undefined,
      undefined,
      ADMIN,
      message('PlantTreeRequest', { garden: 'north', kind: 2, labels: ['old'], notes: BODY.notes }),
    );
    const desc = registry.getMessage('scratch.v1.PlantTreeResponse');
    expect(toJson(desc as never, planted.message as never)).toEqual({
      tree: { garden: 'north', kind: 'KIND_CONIFER', labels: ['old'], notes: { deep: [1, null] } },
    });
    expect(planted.trailer.get('x-service-revision')).toBe('7');
    const counted = await transport.unary(
      method('CountTrees'),
      undefined,
      undefined,
      {},
      message('CountTreesRequest', {}),
    );
    expect(counted.message).toMatchObject({ counts: { oak: 3 } });
  });
  it.each(RPC_PROTOCOLS)('answers with a stream over %s', async (protocol) => {
    const walk = async (init: object, headers: Record<string, string> = KEY) => {
      const transport = rpcTransport(protocol, host.url);
      const asked = once(message('CountTreesRequest', init));
      const reply = await transport.stream(
        method('WalkTrees'),
        undefined,
        undefined,
        headers,
        asked as never,
      );
      const remarks: unknown[] = [];
      for await (const one of reply.message) remarks.push((one as unknown as { remark: string }).remark);
      return remarks;
    };
    const codeOf = (attempt: Promise<unknown>) =>
      attempt.then(
        () => undefined,
        (reason: unknown) => ConnectError.from(reason).code,
      );
    expect(await walk({ limit: 3 })).toEqual(['tree 0', 'tree 1', 'tree 2']);
    expect(await codeOf(walk({ limit: 0 }))).toBe(Code.NotFound);
    expect(await codeOf(walk({}, {}))).toBe(Code.Unauthenticated);
  });
  it('answers with a stream of lines over REST', async () => {
    const walk = (query: string, headers: Record<string, string> = KEY) =>
      fetch(`${host.url}/api/v1/walk${query}`, { headers });
    const reply = await walk('?limit=2');
    expect(reply.headers.get('content-type')).toMatch(/^application\/x-ndjson/);
    const lines = (await reply.text()).trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line).remark)).toEqual(['tree 0', 'tree 1']);
    expect((await walk('?limit=0')).status).toBe(404);
    expect((await walk('?limit=x')).status).toBe(422);
    expect((await walk('', {})).status).toBe(401);
  });
  it.each(BIDI_PROTOCOLS)('takes a stream over %s', async (protocol) => {
    const deliver = async (gardens: string[]) => {
      const transport = rpcTransport(protocol, host.url);
      const items = (async function* () {
        for (const garden of gardens) yield message('PlantTreeRequest', { garden });
      })();
      const reply = await transport.stream(method('Deliver'), undefined, undefined, KEY, items as never);
      for await (const one of reply.message) return one;
      return undefined;
    };
    expect(await deliver(['north', 'south', 'north'])).toMatchObject({ counts: { north: 2, south: 1 } });
    const refused = ConnectError.from(await deliver(['north', 'x']).catch((reason: unknown) => reason));
    expect(refused.code).toBe(Code.InvalidArgument);
    expect(refused.rawMessage).toMatch(/garden: /);
  });
  it('reports the same problems over every protocol', async () => {
    const call = restClient(host.url);
    const refused = await call('PUT', '/api/v1/gardens/x/trees', { kind: 'palm' }, ADMIN);
    expect(refused.status).toBe(422);
    expect(
      refused.body.errors.map((item: { field: string; code: string }) => `${item.field} ${item.code}`),
    ).toEqual(['path.garden string_too_short', 'kind literal_error']);
    for (const protocol of RPC_PROTOCOLS) {
      const attempt = rpcTransport(protocol, host.url).unary(
        method('PlantTree'),
        undefined,
        undefined,
        ADMIN,
        message('PlantTreeRequest', { garden: 'x', kind: 77 }),
      );
      const error = ConnectError.from(await attempt.catch((reason: unknown) => reason));
      expect(error.code).toBe(Code.InvalidArgument);
      expect(error.rawMessage).toMatch(/garden: /);
    }
  });
  it('requires the key its options specify, over every protocol', async () => {
    const call = restClient(host.url);
    expect((await call('PUT', '/api/v1/gardens/north/trees', BODY, KEY)).status).toBe(403);
    expect((await call('POST', '/orchard/north', BODY, KEY)).status).toBe(403);
    expect((await call('GET', '/api/v1/trees/5')).status).toBe(401);
    for (const protocol of RPC_PROTOCOLS) {
      const codeOf = async (name: string, headers: Record<string, string>) => {
        const attempt = rpcTransport(protocol, host.url).unary(
          method(name),
          undefined,
          undefined,
          headers,
          message(`${name}Request`, {}),
        );
        return ConnectError.from(await attempt.catch((reason: unknown) => reason)).code;
      };
      expect(await codeOf('PlantTree', KEY)).toBe(Code.PermissionDenied);
      expect(await codeOf('GetTree', {})).toBe(Code.Unauthenticated);
    }
  });
  it('is counted in the metrics under its path and its name', async () => {
    await restClient(host.url)('GET', '/api/v1/trees/5', undefined, KEY);
    await rawGrpcCall(host, 'scratch.v1.GardenService/CountTrees', Buffer.alloc(0), new Metadata());
    const metrics = await (await fetch(`${host.url}/metrics`)).text();
    expect(metrics).toMatch(
      /_requests_total\{method="GET",path="\/api\/v1\/trees\/\{tree_id\}",status_code="200"/,
    );
    expect(metrics).toMatch(
      /_rpcs_total\{rpc="scratch\.v1\.GardenService\/CountTrees",protocol="grpc",code="ok"/,
    );
  });
  it('is found by reflection, with its messages', async () => {
    const client = grpcJsClient(
      host,
      'grpc/reflection/v1/reflection.proto',
      'grpc.reflection.v1.ServerReflection',
    );
    const stream = client.ServerReflectionInfo?.() as NodeJS.ReadWriteStream;
    const ask = (question: object) => {
      const reply = new Promise((resolve, reject) => stream.once('data', resolve).once('error', reject));
      stream.write(question as never);
      return reply;
    };
    expect(await ask({ list_services: '' })).toMatchObject({
      list_services_response: { service: expect.arrayContaining([{ name: 'scratch.v1.GardenService' }]) },
    });
    expect(await ask({ file_containing_symbol: 'scratch.v1.GardenService.PlantTree' })).toMatchObject({
      message_response: 'file_descriptor_response',
    });
    stream.end();
    client.close();
  });
  it('is part of gRPC health under the name of its service', async () => {
    const client = grpcJsClient(host, 'grpc/health/v1/health.proto', 'grpc.health.v1.Health');
    const reply = await new Promise((resolve, reject) => {
      client.Check?.({ service: 'scratch.v1.GardenService' }, (error: Error | null, value: unknown) =>
        error ? reject(error) : resolve(value),
      );
    });
    expect(reply).toEqual({ status: 'SERVING' });
    client.close();
  });
  it('cannot be served when its options are unknown to the host', async () => {
    const app = fastify();
    const streams = createStreamNames([service], '/api/v1');
    await expect(
      registerConnect(app, {
        register: (router) => router.service(service, {}),
        methods: new Map(),
        host: {
          ...openAdmission(),
          policies: [],
          withdrawals: NO_WITHDRAWALS,
          metrics: createQuietMetrics('test', streams),
          log: pino({ level: 'silent' }),
          logsCalls: false,
          failures: NO_FAILURES,
          requestTimeoutMs: 1_000,
        },
        credentials: createCredentialReader(foreignOriginCheck('*')),
        maxMessageBytes: 1_000,
        shutdownSignal: new AbortController().signal,
        longStreams: agelessStreams(),
      }),
    ).rejects.toThrow(/the access level of scratch\.v1\.GardenService\/PlantTree, .+ is unknown/);
    await app.close();
  });
  it('cannot be served without an access level', async () => {
    const careless = registry.getService('careless.v1.CarelessService') as DescService;
    const leak = handler(z.object({}), () => ({}));
    await expect(startHost(careless, { leak })).rejects.toThrow(
      'careless.v1.CarelessService/Leak states no access level',
    );
  });
});
