import type { z } from 'zod';
import type { DuplicateMembers, JsonObject, JsonValue } from '../../../packages/exact-json/src/index.js';
import type { ErrorItem } from '../../contract/errors/service-error.js';
import { inputItems, invalidRequest, unreadHint } from '../../contract/input/parse-input.js';
import { bodyMembers, type HttpBinding, type RpcMethod } from '../descriptors/rpc-methods.js';
import { type HeaderMember, readHeaderMembers } from './request-headers.js';
import { readBody } from './rest-body.js';
import type { RestRequest } from './rest-route.js';
import { queryLists, queryMembers, unreadMembers } from './unread-parts.js';

/** The part of a request with members of the input. */
export type InputRequest = Pick<RestRequest, 'headers' | 'body' | 'params' | 'query'>;

/** The input read from a request, and its unprocessed body; null without one. */
export interface ReadRequest {
  readonly input: unknown;
  readonly body: JsonValue;
}

/** Combines path, query and body into one input; all their problems are reported together. */
export function readInput(
  schema: z.ZodType,
  method: RpcMethod,
  binding: HttpBinding,
  request: InputRequest,
  inHeaders: readonly HeaderMember[],
  duplicates: DuplicateMembers,
): ReadRequest {
  const params = request.params as Record<string, string>;
  if (binding.body === '') {
    const query = request.query as Record<string, string>;
    const headers = readHeaderMembers(inHeaders, request, query);
    const { value, items } = inputItems(schema, {
      ...query,
      ...queryLists(method, query),
      ...headers,
      ...params,
    });
    if (items.length === 0) return { input: value, body: null };
    throw invalidRequest(items.map((item) => located(item, params, 'query')));
  }
  const body = readBody(request, duplicates);
  if ('problem' in body) {
    const { items } = inputItems(schema, params);
    const others = items.filter((item) => firstPart(item) in params).map((item) => located(item, params, ''));
    throw invalidRequest([...others, ...(body.problem.options.items ?? [])]);
  }
  const query = queryMembers(method, request);
  const members = { ...bodyMembers(binding, body.value), ...query };
  const headers = readHeaderMembers(inHeaders, request, members);
  const { value, items } = inputItems(schema, withParams(members, { ...headers, ...params }));
  if (items.length === 0) return { input: value, body: body.value };
  const places = items.map((item) => inBody(binding, located(located(item, params, ''), query, '', 'query')));
  throw invalidRequest(places, places.length, unreadHint(unreadMembers(method, binding, body.value)));
}

/** The members of a request as they were sent, without those of its path; undefined without a body that can be read. */
export function sentMembers(
  method: RpcMethod,
  binding: HttpBinding,
  request: InputRequest,
  duplicates: DuplicateMembers,
): JsonObject | undefined {
  const body = readBody(request, duplicates);
  if ('problem' in body) return undefined;
  return { ...bodyMembers(binding, body.value), ...queryMembers(method, request) };
}

/** Path and query take precedence over a body member of the same name. */
function withParams(body: JsonObject, params: Record<string, string>): JsonObject {
  return Object.keys(params).length === 0 ? body : { ...body, ...params };
}

/** The place of an item in a body that is one member of the request. */
function inBody({ body }: HttpBinding, item: ErrorItem): ErrorItem {
  if (body === '*' || item.field === undefined || firstPart(item) !== body) return item;
  const { field, ...rest } = item;
  const place = field.slice(body.length).replace(/^\./, '');
  return place === '' ? rest : { ...rest, field: place };
}

function firstPart(item: ErrorItem): string {
  return /^[^.[]*/.exec(item.field ?? '')?.[0] ?? '';
}

/** Prefixes the field of an item: with `place` if it is one of `params`, else with `other`. */
function located(
  item: ErrorItem,
  params: Record<string, string>,
  other: 'query' | '',
  place: 'path' | 'query' = 'path',
): ErrorItem {
  if (item.field === undefined) return item;
  if (Object.hasOwn(params, firstPart(item))) return { ...item, field: `${place}.${item.field}` };
  return other === '' ? item : { ...item, field: `${other}.${item.field}` };
}
