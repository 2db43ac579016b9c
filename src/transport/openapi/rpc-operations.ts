import { type DescMethod, getOption } from '@bufbuild/protobuf';
import type { z } from 'zod';
import { Access, header } from '../../../gen/proto/enforcement/v1/options_pb.js';
import type { JsonObject } from '../../../packages/exact-json/src/index.js';
import type { HttpBinding, RpcMethod } from '../descriptors/rpc-methods.js';
import { LINES_MEDIA_TYPE } from '../rest/line-stream.js';
import { REVISION_HEADER } from '../wire/reply-headers.js';
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
const CREDENTIALS: JsonObject[] = [{ apiKey: [] }, { session: [] }];

/** A JSON route of an RPC, as input of a document. */
export interface DescribedRoute {
  readonly method: RpcMethod;
  readonly binding: HttpBinding;
  /** Path with the configured prefix. */
  readonly template: string;
  /** Schema of the input. */
  readonly input: z.ZodType;
}

/** The operation of a JSON route. */
export function rpcOperation({ method, binding, input }: DescribedRoute, pool: SchemaPool): JsonObject {
  const { desc } = method;
  const { parameters, body } = requestParts(desc.input, binding, input, pool);
  return {
    operationId: operationId(method, binding),
    tags: [tagOf(desc)],
    ...describe(desc),
    ...(desc.deprecated ? { deprecated: true } : {}),
    'x-rpc': method.name,
    'x-access': LEVELS[method.access],
    security: method.access === Access.PUBLIC ? [] : CREDENTIALS,
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined
      ? {}
      : { requestBody: { required: true, content: { 'application/json': { schema: body } } } }),
    responses: {
      [method.successStatus]: success(method, binding, pool),
      ...(method.access === Access.PUBLIC ? {} : { '401': failure('Unauthenticated') }),
      ...(method.access === Access.ADMIN ? { '403': failure('Forbidden') } : {}),
      ...(desc.input.fields.length === 0 ? {} : { '422': failure('Invalid') }),
      default: failure('Failure'),
    },
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
    return { description, content: { [LINES_MEDIA_TYPE]: { schema } } };
  }
  const reply = response(description, schema);
  const headers = output.fields.flatMap((field): [string, JsonObject][] => {
    const name = getOption(field, header);
    const explained = commentOf(`${output.typeName}.${field.name}`) ?? '';
    return name === '' ? [] : [[name.toLowerCase(), { ...REVISION, description: explained }]];
  });
  if (headers.length > 0) return { ...reply, headers: Object.fromEntries(headers) };
  return binding.verb === 'GET' ? reply : { ...reply, headers: { [REVISION_HEADER]: REVISION } };
}

const REVISION: JsonObject = {
  description: 'Revision that the change produced; absent when nothing changed.',
  schema: { type: 'string', pattern: '^[0-9]+$' },
};
