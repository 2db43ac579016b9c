import http2 from 'node:http2';
import path from 'node:path';
import {
  createRegistry,
  type DescMessage,
  type DescMethod,
  type DescMethodBiDiStreaming,
  type DescMethodUnary,
  fromBinary,
  fromJson,
  getOption,
  type JsonValue,
  type Message,
  toJson,
} from '@bufbuild/protobuf';
import { Code, ConnectError, type Transport } from '@connectrpc/connect';
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
  Http2SessionManager,
} from '@connectrpc/connect-node';
import * as grpc from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import { ExtMcp } from '../../gen/proto/agentgateway/dev/ext_mcp/ext_mcp_pb.js';
import { AccessRequestService } from '../../gen/proto/enforcement/v1/access_request_service_pb.js';
import { AdapterService } from '../../gen/proto/enforcement/v1/adapter_service_pb.js';
import { AgentService } from '../../gen/proto/enforcement/v1/agent_service_pb.js';
import { ApprovalService } from '../../gen/proto/enforcement/v1/approval_service_pb.js';
import { AuditService } from '../../gen/proto/enforcement/v1/audit_service_pb.js';
import { AuthService } from '../../gen/proto/enforcement/v1/auth_service_pb.js';
import { AuthzenService } from '../../gen/proto/enforcement/v1/authzen_service_pb.js';
import { ConfigurationService } from '../../gen/proto/enforcement/v1/configuration_service_pb.js';
import { ControlBindingService } from '../../gen/proto/enforcement/v1/control_binding_service_pb.js';
import { ControlService } from '../../gen/proto/enforcement/v1/control_service_pb.js';
import { CoverageService } from '../../gen/proto/enforcement/v1/coverage_service_pb.js';
import { EvaluationService } from '../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import { EvaluatorService } from '../../gen/proto/enforcement/v1/evaluator_service_pb.js';
import { HaltService } from '../../gen/proto/enforcement/v1/halt_service_pb.js';
import { KeyService } from '../../gen/proto/enforcement/v1/key_service_pb.js';
import { MemoryService } from '../../gen/proto/enforcement/v1/memory_service_pb.js';
import { NamespaceService } from '../../gen/proto/enforcement/v1/namespace_service_pb.js';
import { NotificationService } from '../../gen/proto/enforcement/v1/notification_service_pb.js';
import { ObservabilityService } from '../../gen/proto/enforcement/v1/observability_service_pb.js';
import { PackService } from '../../gen/proto/enforcement/v1/pack_service_pb.js';
import { PolicyService } from '../../gen/proto/enforcement/v1/policy_service_pb.js';
import { SampleService } from '../../gen/proto/enforcement/v1/sample_service_pb.js';
import { ServerService } from '../../gen/proto/enforcement/v1/server_service_pb.js';
import { ShadowService } from '../../gen/proto/enforcement/v1/shadow_service_pb.js';
import { TemplateService } from '../../gen/proto/enforcement/v1/template_service_pb.js';
import { Authorization } from '../../gen/proto/envoy/service/auth/v3/external_auth_pb.js';
import { http } from '../../gen/proto/google/api/annotations_pb.js';
import {
  BadRequestSchema,
  ErrorInfoSchema,
  PreconditionFailureSchema,
  RetryInfoSchema,
} from '../../gen/proto/google/rpc/error_details_pb.js';
import { StatusSchema } from '../../gen/proto/google/rpc/status_pb.js';
import { ERROR_CODE_HEADER } from '../../src/serve/wire/reply-headers.js';
import { restClient } from './http.js';
import { comparable, type Encoding, timeParts, toWire } from './wire-shape.js';

/** The services of adapters, in the forms of other protocols and without JSON routes. */
export const ADAPTER_SERVICES = [ExtMcp, Authorization] as const;

/** Every service of the API. */
export const SERVICES = [
  AgentService,
  ControlService,
  ControlBindingService,
  PolicyService,
  ServerService,
  KeyService,
  TemplateService,
  EvaluatorService,
  EvaluationService,
  ObservabilityService,
  AuditService,
  AuthService,
  NamespaceService,
  PackService,
  HaltService,
  NotificationService,
  MemoryService,
  ApprovalService,
  AccessRequestService,
  AuthzenService,
  AdapterService,
  ConfigurationService,
  SampleService,
  ShadowService,
  CoverageService,
];

/** How a call ended; the same for every protocol, apart from the status of an error. */
export type Outcome = { readonly ok: true; readonly reply: Record<string, unknown> } | Failure;

export interface Failure {
  readonly ok: false;
  /** Our error code, for example `CONTROL_NOT_FOUND`. */
  readonly reason: string;
  /** HTTP status over REST, name of the gRPC code over everything else. */
  readonly status: number | string;
  /** Offending members as `field code`, for example `limit greater_than_equal`. */
  readonly fields: readonly string[] | null;
  readonly retryAfterSeconds: number | null;
}

/** A client of one protocol. Input and reply are JSON as the JSON routes have it, members in snake_case. */
export interface ProtocolClient {
  call(method: DescMethod, input: object, key?: string): Promise<Outcome>;
  /** Sends all messages, half-closes, and gathers the replies. Rejects where the protocol cannot stream. */
  stream(method: DescMethod, messages: readonly object[], key?: string): Promise<Record<string, unknown>[]>;
  close(): void;
}

const MESSAGE_TYPES = createRegistry(ErrorInfoSchema, BadRequestSchema, RetryInfoSchema);

/** Every way to call the service, by name. */
export const PROTOCOLS = {
  'REST over h1': (url: string) => restProtocolClient(restClient(url), () => {}),
  'REST over h2': (url: string) => restOverHttp2(url),
  'gRPC (Connect transport)': (url: string) =>
    transportClient(url, (options) => createGrpcTransport({ ...options, baseUrl: url })),
  'gRPC (grpc-js)': (url: string) => grpcJsClient(url),
  'gRPC-Web over h1': (url: string) =>
    transportClient(url, () => createGrpcWebTransport({ baseUrl: url, httpVersion: '1.1' })),
  'gRPC-Web over h2': (url: string) =>
    transportClient(url, (options) => createGrpcWebTransport({ ...options, baseUrl: url, httpVersion: '2' })),
  'Connect over h1': (url: string) =>
    transportClient(url, () =>
      createConnectTransport({ baseUrl: url, httpVersion: '1.1', useBinaryFormat: true }),
    ),
  'Connect over h2': (url: string) =>
    transportClient(url, (options) =>
      createConnectTransport({ ...options, baseUrl: url, httpVersion: '2', useBinaryFormat: true }),
    ),
  'Connect with JSON over h1': (url: string) =>
    transportClient(url, () =>
      createConnectTransport({
        baseUrl: url,
        httpVersion: '1.1',
        useBinaryFormat: false,
        jsonOptions: { registry: MESSAGE_TYPES },
      }),
    ),
} as const satisfies Record<string, (url: string) => ProtocolClient>;

export type ProtocolName = keyof typeof PROTOCOLS;
export const PROTOCOL_NAMES = Object.keys(PROTOCOLS) as ProtocolName[];

/** Protocols that can send and receive at the same time. */
export const STREAMING_PROTOCOLS: readonly ProtocolName[] = [
  'gRPC (Connect transport)',
  'gRPC (grpc-js)',
  'gRPC-Web over h2',
  'Connect over h2',
];

/** The method of a name such as `AgentService.InitAgent`. */
export function methodNamed(name: string): DescMethod {
  const [service, method] = name.split('.');
  const found = SERVICES.find((one) => one.typeName === `enforcement.v1.${service}`)?.methods.find(
    (one) => one.name === method,
  );
  if (found === undefined) throw new Error(`there is no method ${name}`);
  return found;
}

type RestCall = (
  method: string,
  path: string,
  body?: unknown,
  headers?: Record<string, string>,
) => Promise<{
  status: number;
  retryAfter?: string | null;
  /** Where the body has none. */
  code?: string | null;
  headers?: Headers;
  body: unknown;
}>;

function restProtocolClient(call: RestCall, close: () => void): ProtocolClient {
  return {
    async call(method, input, key) {
      const { verb, path, body, responseBody } = restRequest(method, input);
      const reply = await call(verb, path, body, key === undefined ? {} : { 'x-api-key': key });
      if (reply.status < 300) {
        const whole = responseBody === '' ? reply.body : { [responseBody]: reply.body };
        return { ok: true, reply: comparable(method.output, whole) };
      }
      const { retryAfter, code, headers } = reply;
      return restFailure(
        reply.status,
        reply.body,
        retryAfter ?? headers?.get('retry-after'),
        code ?? headers?.get(ERROR_CODE_HEADER),
      );
    },
    stream: () => Promise.reject(new Error('the JSON routes have no streams')),
    close,
  };
}

function restRequest(method: DescMethod, input: object) {
  const rule = getOption(method, http);
  if (rule.pattern.case === undefined || rule.pattern.case === 'custom') {
    throw new Error(`${method.name} has no JSON route`);
  }
  const rest: Record<string, unknown> = { ...input };
  const path = rule.pattern.value.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = rest[name];
    delete rest[name];
    return encodeURIComponent(String(value));
  });
  const body = rule.body === '' || rule.body === '*' ? undefined : rest[rule.body];
  if (rule.body !== '*') delete rest[rule.body];
  const query = new URLSearchParams(
    Object.entries(rest).flatMap(([name, value]) =>
      (Array.isArray(value) ? value : [value]).map((each): [string, string] => [name, String(each)]),
    ),
  );
  return {
    verb: rule.pattern.case.toUpperCase(),
    path: rule.body === '*' || query.size === 0 ? path : `${path}?${query}`,
    body: rule.body === '*' ? rest : body,
    responseBody: rule.responseBody,
  };
}

interface Problem {
  readonly error_code?: string;
  readonly errors?: readonly { field?: string; code: string }[];
}

function restFailure(
  status: number,
  body: unknown,
  retryAfter: string | null | undefined,
  code: string | null | undefined,
): Failure {
  const problem = body as Problem;
  return {
    ok: false,
    reason: problem.error_code ?? code ?? '',
    status,
    // Over gRPC there is no difference between path, query and body.
    fields:
      code === null || code === undefined
        ? (problem.errors ?? []).map((item) =>
            `${(item.field ?? '').replace(/^(?:path|query)\./, '')} ${item.code}`.trim(),
          )
        : null,
    retryAfterSeconds: retryAfter ? Number(retryAfter) : null,
  };
}

/** A body in the form of another protocol is not read. */
function textOrJson(text: string, code: string | null): unknown {
  return code === null ? JSON.parse(text) : text;
}

function restOverHttp2(url: string): ProtocolClient {
  const session = http2.connect(url);
  const call: RestCall = (method, path, body, headers = {}) =>
    new Promise((resolve, reject) => {
      const text = body === undefined ? undefined : JSON.stringify(body);
      const request = session.request({
        ':method': method,
        ':path': path,
        ...(text === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      });
      let status = 0;
      let retryAfter: string | null = null;
      let code: string | null = null;
      const chunks: Buffer[] = [];
      request.on('response', (received) => {
        status = Number(received[':status']);
        retryAfter = (received['retry-after'] as string | undefined) ?? null;
        code = (received[ERROR_CODE_HEADER] as string | undefined) ?? null;
      });
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('error', reject);
      request.on('end', () =>
        resolve({ status, retryAfter, code, body: textOrJson(String(Buffer.concat(chunks)), code) }),
      );
      request.end(text);
    });
  return restProtocolClient(call, () => session.close());
}

const PROTO_JSON: Encoding = {
  freeForm: (value) => value,
  bytes: (text) => Buffer.from(text).toString('base64'),
  time: (text) => text,
};

/** An input, members in snake_case, as the JSON of protobuf. */
export function protoJson(desc: DescMessage, input: object): { [member: string]: JsonValue } {
  return toWire(desc, input, PROTO_JSON) as { [member: string]: JsonValue };
}

function transportClient(
  url: string,
  connect: (options: { sessionManager: Http2SessionManager }) => Transport,
): ProtocolClient {
  const sessionManager = new Http2SessionManager(url);
  const transport = connect({ sessionManager });
  const headers = (key: string | undefined) => (key === undefined ? {} : { 'x-api-key': key });
  const message = (desc: DescMessage, plain: object): Message => fromJson(desc, protoJson(desc, plain));
  const plain = (desc: DescMessage, received: Message) =>
    comparable(
      desc,
      toJson(desc, received, { useProtoFieldName: true, alwaysEmitImplicit: true, registry: MESSAGE_TYPES }),
    );
  return {
    async call(method, input, key) {
      if (method.methodKind !== 'unary') throw new Error(`${method.name} is not unary`);
      const request = message(method.input, input);
      try {
        const reply = await transport.unary(
          method as DescMethodUnary,
          undefined,
          undefined,
          headers(key),
          request,
        );
        return { ok: true, reply: plain(method.output, reply.message) };
      } catch (error) {
        return connectFailure(ConnectError.from(error));
      }
    },
    async stream(method, messages, key) {
      if (method.methodKind !== 'bidi_streaming') throw new Error(`${method.name} is no stream`);
      const requests = messages.map((one) => message(method.input, one));
      const sent = (async function* () {
        yield* requests;
      })();
      const response = await transport.stream(
        method as DescMethodBiDiStreaming,
        undefined,
        undefined,
        headers(key),
        sent,
      );
      const replies: Record<string, unknown>[] = [];
      for await (const reply of response.message) replies.push(plain(method.output, reply));
      return replies;
    },
    close: () => sessionManager.abort(),
  };
}

function connectFailure(error: ConnectError): Failure {
  const retry = error.findDetails(RetryInfoSchema)[0]?.retryDelay;
  return {
    ok: false,
    reason: error.findDetails(ErrorInfoSchema)[0]?.reason ?? '',
    status: Code[error.code],
    fields: [
      ...violations(error.findDetails(BadRequestSchema)[0]),
      ...preconditions(error.findDetails(PreconditionFailureSchema)[0]),
    ],
    retryAfterSeconds: retry === undefined ? null : Number(retry.seconds),
  };
}

function violations(bad: { fieldViolations: { field: string; reason: string }[] } | undefined): string[] {
  return (bad?.fieldViolations ?? []).map(({ field, reason }) => `${field} ${reason.toLowerCase()}`.trim());
}

/** Without a member of the request, the subject is the kind of a resource, which is written with a capital. */
function preconditions(failure: { violations: { type: string; subject: string }[] } | undefined): string[] {
  return (failure?.violations ?? []).map(({ type, subject }) =>
    `${subject.replace(/^[A-Z]\w*$/, '')} ${type.toLowerCase()}`.trim(),
  );
}

/** Loads the `.proto` files themselves: nothing generated by us takes part. */
export const PROTO_LOADER_OPTIONS = {
  keepCase: true,
  enums: String,
  longs: Number,
  defaults: true,
  includeDirs: ['proto', 'proto/adapters', 'proto/third_party'].map((folder) =>
    path.resolve(import.meta.dirname, '../..', folder),
  ),
};

const LOADED = loadSync(
  SERVICES.map(({ file }) => `${file.name}.proto`),
  PROTO_LOADER_OPTIONS,
);

const GRPC_JS: Encoding = {
  freeForm: (value, desc) =>
    desc.typeName === 'google.protobuf.Struct' ? struct(value) : structValue(value),
  bytes: (text) => Buffer.from(text),
  time: timeParts,
};

function struct(object: unknown): object {
  return {
    fields: Object.fromEntries(
      Object.entries(object as object).map(([key, value]) => [key, structValue(value)]),
    ),
  };
}

function structValue(value: unknown): object {
  if (value === null) return { nullValue: 'NULL_VALUE' };
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'number') return { numberValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  if (Array.isArray(value)) return { listValue: { values: value.map(structValue) } };
  return { structValue: struct(value) };
}

interface LoadedValue {
  readonly [kind: string]: unknown;
  readonly listValue?: { values: LoadedValue[] };
  readonly structValue?: { fields: Record<string, LoadedValue> };
}

function plainStruct({ fields }: { fields: Record<string, LoadedValue> }): object {
  return Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, plainStructValue(value)]));
}

function plainStructValue(value: LoadedValue): unknown {
  if (value.structValue) return plainStruct(value.structValue);
  if (value.listValue) return value.listValue.values.map(plainStructValue);
  if (Object.hasOwn(value, 'nullValue')) return null;
  return value.stringValue ?? value.numberValue ?? value.boolValue;
}

function grpcJsClient(url: string): ProtocolClient {
  const client = new grpc.Client(new URL(url).host, grpc.credentials.createInsecure());
  const metadata = (key: string | undefined) => {
    const sent = new grpc.Metadata();
    if (key !== undefined) sent.set('x-api-key', key);
    return sent;
  };
  const definitionOf = (method: DescMethod) => {
    const service = LOADED[method.parent.typeName] as grpc.ServiceDefinition;
    const definition = service[method.name];
    if (definition === undefined) throw new Error(`the proto files have no ${method.name}`);
    return definition;
  };
  const plain = (desc: DescMessage, received: unknown) =>
    comparable(desc, received, (value, type) =>
      type.typeName === 'google.protobuf.Struct'
        ? plainStruct(value as { fields: Record<string, LoadedValue> })
        : plainStructValue(value as LoadedValue),
    );
  return {
    call(method, input, key) {
      const { path: rpcPath, requestSerialize, responseDeserialize } = definitionOf(method);
      const request = toWire(method.input, input, GRPC_JS);
      return new Promise((resolve) => {
        client.makeUnaryRequest(
          rpcPath,
          requestSerialize,
          responseDeserialize,
          request,
          metadata(key),
          (error, reply) =>
            resolve(error === null ? { ok: true, reply: plain(method.output, reply) } : grpcJsFailure(error)),
        );
      });
    },
    stream(method, messages, key) {
      const { path: rpcPath, requestSerialize, responseDeserialize } = definitionOf(method);
      const call = client.makeBidiStreamRequest(
        rpcPath,
        requestSerialize,
        responseDeserialize,
        metadata(key),
      );
      const replies: Record<string, unknown>[] = [];
      return new Promise((resolve, reject) => {
        call.on('data', (reply: unknown) => replies.push(plain(method.output, reply)));
        call.on('error', reject);
        call.on('end', () => resolve(replies));
        for (const message of messages) call.write(toWire(method.input, message, GRPC_JS));
        call.end();
      });
    },
    close: () => client.close(),
  };
}

function grpcJsFailure(error: grpc.ServiceError): Failure {
  const bytes = error.metadata.get('grpc-status-details-bin')[0];
  const status = Buffer.isBuffer(bytes) ? fromBinary(StatusSchema, bytes) : undefined;
  const detail = (typeName: string) =>
    status?.details.find((one) => one.typeUrl.endsWith(`/${typeName}`))?.value;
  const info = detail(ErrorInfoSchema.typeName);
  const bad = detail(BadRequestSchema.typeName);
  const failed = detail(PreconditionFailureSchema.typeName);
  const retry = detail(RetryInfoSchema.typeName);
  const delay = retry && fromBinary(RetryInfoSchema, retry).retryDelay;
  return {
    ok: false,
    reason: info === undefined ? '' : fromBinary(ErrorInfoSchema, info).reason,
    status: Code[error.code] ?? String(error.code),
    fields: [
      ...violations(bad && fromBinary(BadRequestSchema, bad)),
      ...preconditions(failed && fromBinary(PreconditionFailureSchema, failed)),
    ],
    retryAfterSeconds: delay ? Number(delay.seconds) : null,
  };
}
