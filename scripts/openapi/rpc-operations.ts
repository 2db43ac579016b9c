import type { DescMethod } from '@bufbuild/protobuf';
import { MethodOptions_IdempotencyLevel } from '@bufbuild/protobuf/wkt';
import type { z } from 'zod';
import { Access, evaluation, header, scopes } from '../../gen/proto/enforcement/v1/options_pb.js';
import type { JsonObject } from '../../packages/exact-json/src/index.js';
import type { ErrorForm } from '../../src/contract/call/handler.js';
import { optionOf } from '../../src/contract/warnings/proto-option.js';
import type { HttpBinding, RpcMethod } from '../../src/serve/descriptors/rpc-methods.js';
import { MEDIA_TYPES } from '../../src/serve/wire/media-types.js';
import {
  ETAG_HEADER,
  NEXT_PAGE_HEADER,
  RATE_LIMIT_HEADER,
  RATE_LIMIT_POLICY_HEADER,
  RETRY_AFTER_HEADER,
  REVISION_HEADER,
} from '../../src/serve/wire/reply-headers.js';
import { withParameterExamples, withReplyExample } from './examples.js';
import { type Form, fieldSchema, messageSchema } from './message-schemas.js';
import { failure, response } from './problem-schemas.js';
import { commentOf } from './proto-comments.js';
import { requestParts } from './request-schemas.js';
import type { SchemaPool } from './schema-pool.js';

/** Names of the access levels. */
const LEVELS: Readonly<Record<Access, string>> = {
  [Access.UNSPECIFIED]: 'none',
  [Access.PUBLIC]: 'public',
  [Access.KEY]: 'key',
  [Access.ADMIN]: 'admin',
};

/** Either credential is sufficient. */
const CREDENTIALS: JsonObject[] = [{ apiKey: [] }, { bearer: [] }, { session: [] }];

/** A JSON route of an RPC, as input of a document. */
export interface DescribedRoute {
  readonly method: RpcMethod;
  readonly binding: HttpBinding;
  /** Path with the configured prefix. */
  readonly template: string;
  /** Schema of the input. */
  readonly input: z.ZodType;
  /** How errors of the route are shown; undefined for problem bodies. */
  readonly errorForm?: ErrorForm | undefined;
}

/** The operation of a JSON route. */
export function rpcOperation(
  { method, binding, input, errorForm }: DescribedRoute,
  pool: SchemaPool,
): JsonObject {
  const { desc } = method;
  const { parameters, body } = requestParts(desc.input, binding, input, pool);
  const id = operationId(method, binding);
  return {
    operationId: id,
    tags: [tagOf(desc)],
    ...describe(desc),
    ...(desc.deprecated ? { deprecated: true } : {}),
    'x-rpc': method.name,
    'x-access': LEVELS[method.access],
    'x-scopes': [...optionOf(desc, scopes)],
    security: method.access === Access.PUBLIC ? [] : CREDENTIALS,
    ...(parameters.length === 0 ? {} : { parameters: withParameterExamples(id, parameters) }),
    ...(body === undefined
      ? {}
      : { requestBody: { required: true, content: { [MEDIA_TYPES.json]: { schema: body } } } }),
    responses: {
      [method.successStatus]: withReplyExample(id, success(method, binding, pool)),
      ...(errorForm === undefined
        ? { ...failures(method, binding, body !== undefined), default: failure('Failure') }
        : { default: foreignFailure(errorForm) }),
    },
  };
}

/** The failures that the operation may have, by status. */
function failures({ access, desc }: RpcMethod, binding: HttpBinding, hasBody: boolean): JsonObject {
  const isRead = desc.idempotency === MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS;
  const isEvaluation = optionOf(desc, evaluation);
  const changes = binding.verb !== 'GET' && !isRead && !isEvaluation;
  return {
    ...(hasBody || (changes && binding.verb !== 'DELETE') ? { '400': failure('Undecodable') } : {}),
    ...(access === Access.PUBLIC ? {} : { '401': failure('Unauthenticated') }),
    ...(access === Access.ADMIN ? { '403': failure('Forbidden') } : {}),
    ...(binding.pathMembers.length > 0 || isEvaluation ? { '404': failure('NotFound') } : {}),
    ...(changes ? { '409': failure('Conflict') } : {}),
    ...(desc.input.fields.some(({ name }) => name === 'if_version')
      ? { '412': failure('VersionMismatch') }
      : {}),
    ...(hasBody ? { '413': failure('TooLarge') } : {}),
    ...(desc.input.fields.length === 0 ? {} : { '422': failure('Invalid') }),
    '429': failure('RateLimited'),
    '503': failure('Unavailable'),
    '504': failure('Timeout'),
  };
}

/** Failures in the form of another protocol, whose body is a text, or JSON of that protocol. */
function foreignFailure(form: ErrorForm): JsonObject {
  const [type = ''] = form.type.split(';');
  const description = 'The failure, in the form of the protocol of the route.';
  return {
    description,
    content: { [type]: { schema: type === MEDIA_TYPES.json ? {} : { type: 'string' } } },
  };
}

/** Tag of the RPCs of a service. */
export function tagOf(method: DescMethod): string {
  return method.parent.name.replace(/Service$/, '');
}

/** An RPC with several paths has an operation for each. */
function operationId(method: RpcMethod, binding: HttpBinding): string {
  const index = method.bindings.indexOf(binding);
  return index <= 0 ? method.desc.localName : `${method.desc.localName}${index + 1}`;
}

/** The first sentence of the comment is the summary, all of it the description. */
function describe(desc: DescMethod): JsonObject {
  const comment = commentOf(`${desc.parent.typeName}.${desc.name}`);
  if (comment === undefined) return { summary: words(desc.name) };
  const end = comment.search(/\.(?: |$)/);
  const summary = end === -1 ? comment : comment.slice(0, end);
  return { summary, description: comment };
}

/** `ListControlVersions` as "List control versions". */
function words(name: string): string {
  const text = name.replace(/([a-z\d])([A-Z])/g, '$1 $2').toLowerCase();
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function success(method: RpcMethod, binding: HttpBinding, pool: SchemaPool): JsonObject {
  const { output } = method.desc;
  const form: Form = method.omitNulls ? 'no-nulls' : 'nulls';
  const member = output.fields.find(({ name }) => name === binding.responseBody);
  const schema = member === undefined ? messageSchema(output, form, pool) : fieldSchema(member, form, pool);
  const description = commentOf(output.typeName) ?? 'Success.';
  if (method.desc.methodKind === 'server_streaming') {
    return { description, content: { [MEDIA_TYPES.lines]: { schema } } };
  }
  const reply = response(description, schema);
  const headers = output.fields.flatMap((field): [string, JsonObject][] => {
    const name = optionOf(field, header);
    const explained = commentOf(`${output.typeName}.${field.name}`) ?? '';
    const schema = HEADER_SCHEMAS[name] ?? REVISION.schema ?? {};
    return name === '' ? [] : [[name.toLowerCase(), { description: explained, schema }]];
  });
  const isKnown = headers.some(([name]) => name === REVISION_HEADER);
  if (binding.verb !== 'GET' && !isKnown) headers.push([REVISION_HEADER, REVISION]);
  if (output.fields.some(({ message }) => message?.name === 'LimitStatus')) headers.push(...LIMIT_HEADERS);
  return headers.length === 0 ? reply : { ...reply, headers: Object.fromEntries(headers) };
}

/** Those that are no number. */
const HEADER_SCHEMAS: Readonly<Record<string, JsonObject>> = {
  [ETAG_HEADER]: { type: 'string', pattern: '^"[0-9]+"$' },
  [NEXT_PAGE_HEADER]: { type: 'string' },
};

const LIMITS = 'https://datatracker.ietf.org/doc/draft-ietf-httpapi-ratelimit-headers/';

/** Those of limits that controls with memory applied. */
const LIMIT_HEADERS: readonly [string, JsonObject][] = [
  [
    RATE_LIMIT_POLICY_HEADER,
    {
      description: `The limit with the smallest remaining share, see ${LIMITS}. Absent without limits.`,
      schema: { type: 'string' },
    },
  ],
  [RATE_LIMIT_HEADER, { description: 'What is left of that limit.', schema: { type: 'string' } }],
  [
    RETRY_AFTER_HEADER,
    {
      description:
        'Seconds after which an unsafe step may be sent again with a chance to pass. Absent if time alone does not help.',
      schema: { type: 'integer', minimum: 0 },
    },
  ],
];

const REVISION: JsonObject = {
  description: 'Revision that the change produced; absent when nothing changed.',
  schema: { type: 'string', pattern: '^[0-9]+$' },
};
