import { MethodOptions_IdempotencyLevel } from '@bufbuild/protobuf/wkt';
import { EvaluationService } from '../../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import { SampleService } from '../../../gen/proto/enforcement/v1/sample_service_pb.js';
import type { OpenApiDocument, PlacedOperation } from '../../support/openapi-document.js';
import { SERVICES } from '../../support/protocol-clients.js';
import type { Json } from '../../support/wire-shape.js';

const RPCS = new Map(SERVICES.flatMap(({ methods }) => methods).map((method) => [method.localName, method]));
/** Parts of the path of a resource itself, such as `/api/v1/agents/{agent_name}`. */
const RESOURCE = 5;
/** Turns of operations that make and link what the examples of others name. */
const MAKES = 1;
const LINKS = 2;

/** The turn of an operation in an order in which the example of each works; operations of the host come first. */
function turnOf({ operationId, method, path, ...operation }: PlacedOperation): number {
  const rpc = RPCS.get(operationId);
  const parts = path.split('/').length;
  // The namespace exists by then, and still.
  if (operationId === 'switchNamespace') return 4;
  // What it forgets was read before; what it makes would have the ids that other examples name.
  if (['resetMemoryKey', 'applyConfiguration'].includes(operationId)) return 5;
  // Reads need it, and a change of the control would stand against it.
  if (operationId === 'setShadow') return LINKS;
  if (operationId === 'promoteShadow') return 3;
  if (rpc === undefined) return 0;
  // Its name cannot be used again.
  if (path.endsWith(':delete') || ['deleteNamespace', 'deleteDestination'].includes(operationId)) return 8;
  // Links, before what they link.
  if (method === 'DELETE') return parts > RESOURCE || path.includes('/control-bindings/') ? 5 : 6;
  const isRead = rpc.idempotency === MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS;
  // What admins read is what was done before; samples end with their agent.
  if (isRead && operation['x-access'] === 'admin' && rpc.parent !== SampleService) return 7;
  if (path.endsWith('/install')) return LINKS;
  if (isRead || rpc.parent === EvaluationService) return 3;
  if (!path.includes('{')) return MAKES;
  return method === 'POST' && path.endsWith('}') ? LINKS : 4;
}

/** The operations in the order of their turns; those of one turn as the proto declares them. */
export function inOrder(operations: readonly PlacedOperation[]): PlacedOperation[] {
  return operations.toSorted((a, b) => turnOf(a) - turnOf(b));
}

/** Those that bring back what an operation before has taken away. */
export function preparations(operations: readonly PlacedOperation[]): PlacedOperation[] {
  return inOrder(operations).filter((one) => [MAKES, LINKS].includes(turnOf(one)));
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly example?: string | number | boolean;
}
interface Schema {
  readonly $ref?: string;
  readonly examples?: readonly Json[];
}

/** The examples of the body of a request; undefined without a body. */
export function bodyExamples(document: OpenApiDocument, { requestBody }: PlacedOperation) {
  const { content } = (requestBody ?? {}) as { content?: Record<string, { schema: Schema }> };
  const schema = content?.['application/json']?.schema;
  if (schema === undefined) return undefined;
  const name = schema.$ref?.split('/').at(-1);
  const { examples = [] } = name === undefined ? schema : (document.components.schemas[name] as Schema);
  return examples;
}

/** The request that the examples of an operation make. */
export function exampleRequest(document: OpenApiDocument, operation: PlacedOperation) {
  let path = operation.path;
  const query = new URLSearchParams();
  const headers: Record<string, string> = {};
  for (const { name, in: place, example } of (operation.parameters ?? []) as readonly Parameter[]) {
    if (example === undefined) continue;
    if (place === 'path') path = path.replace(`{${name}}`, encodeURIComponent(String(example)));
    else if (place === 'query') query.set(name, String(example));
    else headers[name] = String(example);
  }
  return {
    path: query.size === 0 ? path : `${path}?${query}`,
    headers,
    body: bodyExamples(document, operation)?.[0] as object | undefined,
  };
}

/** The example of the reply of an operation; undefined when nothing is replied. */
export function replyExample({ responses }: PlacedOperation): { readonly example?: Json } | undefined {
  const [success] = Object.values(responses);
  return Object.values((success?.content ?? {}) as Record<string, { example?: Json }>)[0];
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const HASH = /^(?!0+$)[0-9a-f]{64}$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(Z|)$/;
/** Random values, each with what stands for it, by the name of its member. */
const RANDOM: Readonly<Record<string, readonly [RegExp, string]>> = {
  token: [/^eyJ.*$/, 'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJkb21haW4iOiJydW50aW1lIn0.signature'],
  secret: [/^(cek_|whsec_)[\w+/=]{44,46}$/, `$1${'x'.repeat(46)}`],
  message_id: [/^msg_[0-9a-f-]{36}/, 'msg_7d444840-9dc0-41d1-b245-5ffdce74fad2'],
  key_id: [/^[\w-]{43}$/, '9gY0wqSnv1Tn2cqQmQn5m5rJ3b0lq1s8kZ7uX4cV6bA'],
  resets_after: [/^\d+\.\d+s$/, '43200s'],
  retry_after: [/^\d+\.\d+s$/, '43200s'],
  // A time and a UUID, in base64url.
  next_cursor: [/^MTc[\w-]{50,80}$/, 'MTc5NTgxNDYyNDA2NC43ZDQ0NDg0MC05ZGMwLTQxZDEtYjI0NS01ZmZkY2U3NGZhZDI'],
  prefix: [/^cek_\w{4}$/, 'cek_xxxx'],
  fingerprint: [/^[0-9a-f]{12}$/, '5d38423cb47c'],
  name: [/-clone-[0-9a-f]{16}$/, '-clone-211b632a222eec44'],
  resource_name: [/-clone-[0-9a-f]{16}$/, '-clone-211b632a222eec44'],
};
/** Members whose texts are JSON themselves. */
const JSON_TEXTS = ['before', 'after', 'record_json'];
/** Those of packs grow with them. */
const MEASURED =
  /(?:duration|latency|duration_ms|duration_us|latency_ms|_age_seconds|^control_count|^case_count)$/;

/** A reply with the same ids, times and durations in every run. */
export function steady(reply: unknown): Json {
  return JSON.parse(JSON.stringify(reply), (key, value: unknown) => {
    // What the sender has tried meanwhile.
    if (key === 'attempts') return 0;
    if (key === 'last_error' || key === 'last_attempt_at') return null;
    if (typeof value === 'number' && MEASURED.test(key)) return 2;
    if (typeof value !== 'string') return value;
    if (JSON_TEXTS.includes(key)) return JSON.stringify(steady(JSON.parse(value)));
    const random = RANDOM[key];
    if (random?.[0].test(value)) return value.replace(...random);
    if (UUID.test(value)) return '7d444840-9dc0-41d1-b245-5ffdce74fad2';
    if (HASH.test(value)) return 'b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9';
    const time = TIME.exec(value);
    return time === null ? value : `2026-03-02T09:30:00${time[1]}`;
  }) as Json;
}
