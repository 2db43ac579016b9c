import { header, in_query } from '../../../gen/proto/enforcement/v1/options_pb.js';
import { decodeJsonText, folded, type JsonValue } from '../../../packages/exact-json/src/index.js';
import { pathPart } from '../../contract/errors/quoted.js';
import { invalidRequest } from '../../contract/input/parse-input.js';
import { optionOf } from '../../contract/warnings/proto-option.js';
import type { ReceivedRequest } from '../../contract/warnings/request-warnings.js';
import { didYouMean } from '../../contract/warnings/suggestion.js';
import { unknownMembers } from '../../contract/warnings/unknown-members.js';
import type { Warning } from '../../contract/warnings/warning.js';
import { bodyMembers, type HttpBinding, type RpcMethod } from '../descriptors/rpc-methods.js';
import type { RestRequest } from './rest-route.js';

/** Most parameters named in warnings; a query string may have thousands. */
const MAX_NAMED_PARAMETERS = 20;

/** The members of a request with a body that are sent in the query. */
export function queryMembers(method: RpcMethod, request: Pick<RestRequest, 'query'>): Record<string, string> {
  const query = request.query as Record<string, string>;
  const names = method.desc.input.fields.filter((field) => optionOf(field, in_query)).map(({ name }) => name);
  const isOfPeer = method.desc.parent.name === 'AdapterService';
  return Object.fromEntries(
    names.flatMap((name) => {
      const spelling = [name, withHyphens(name)].find((one) => Object.hasOwn(query, one));
      if (isOfPeer) demandOne(query, name);
      return spelling === undefined ? [] : [[name, query[spelling] ?? '']];
    }),
  );
}

/** Throws for a parameter of an adapter that could be read in two ways: it says whose step it is. */
function demandOne(query: Record<string, string>, name: string): void {
  const spellings = Object.keys(query).filter((one) => folded(one.replaceAll('-', '_')) === name);
  const [spelling = name] = spellings;
  const isKnown = spelling === name || spelling === withHyphens(name);
  if (spellings.length <= 1 && isKnown && !isRepeated(query, spelling)) return;
  const message = isKnown
    ? 'must be there once: the values could be of different callers'
    : `is written ${spelling}`;
  throw invalidRequest([{ resource: 'Request', field: `query.${name}`, code: 'value_error', message }]);
}

/** The spelling of a parameter in protocols of others, such as `api-version`. */
function withHyphens(name: string): string {
  return name.replaceAll('_', '-');
}

/** A warning for each query parameter that the route does not have, or a VALIDATION_ERROR if `strict`. */
export function checkQuery(
  method: RpcMethod,
  binding: HttpBinding,
  request: RestRequest,
  strict: boolean,
): Warning[] {
  const query = request.query as Record<string, string>;
  const names = Object.keys(query);
  if (names.length === 0) return [];
  const known = queryNames(method, binding);
  const spellings = new Set([...known, ...[...known].map(withHyphens)]);
  const unknown = names.filter((name) => !spellings.has(name)).slice(0, MAX_NAMED_PARAMETERS);
  const warnings = unknown.map((name): Warning => {
    const message = `unknown query parameter${didYouMean(name, known)}`;
    return { code: 'unknown_member', field: pathPart(name), message };
  });
  if (!strict || warnings.length === 0) return warnings;
  throw invalidRequest(
    warnings.map(({ field, message }) => ({
      resource: 'Request',
      field: `query.${field}`,
      code: 'extra_forbidden',
      message,
    })),
  );
}

/** A warning for a body on a route that reads none: its members, such as if_version, would be missed. */
export function unreadBody(binding: HttpBinding, bytes: unknown): Warning[] {
  if (binding.body !== '' || binding.verb === 'GET' || !Buffer.isBuffer(bytes)) return [];
  // Clients that always send JSON send an empty object.
  if (bytes.length <= EMPTY_BODY_LENGTH && EMPTY_BODY.test(bytes.toString())) return [];
  const message = 'this route reads no body; its members are query parameters';
  return [{ code: 'no_effect', field: 'body', message }];
}

/** An empty body, object or null, with blanks. */
const EMPTY_BODY = /^\s*(?:\{\s*\}|null)?\s*$/;
const EMPTY_BODY_LENGTH = 100;

/** Members of a body that are not read. */
export function unreadMembers(
  method: RpcMethod,
  binding: HttpBinding,
  body: JsonValue,
): Generator<Warning, void> {
  return unknownMembers(method.desc.input, bodyMembers(binding, body), {
    spelling: 'rest',
    elsewhere: binding.pathMembers,
  });
}

/** Names of the query parameters of a route. */
function queryNames(method: RpcMethod, binding: HttpBinding): ReadonlySet<string> {
  const fields = method.desc.input.fields.filter((field) => {
    if (binding.pathMembers.includes(field.name)) return false;
    return optionOf(field, in_query) || (binding.body === '' && optionOf(field, header) === '');
  });
  return new Set(fields.map(({ name }) => name));
}

/** A request as received: `body` as parsed from the bytes, null without one. */
export function receivedRequest(
  method: RpcMethod,
  binding: HttpBinding,
  body: JsonValue,
  bytes: unknown,
): ReceivedRequest {
  return {
    desc: method.desc.input,
    value: body,
    spelling: 'rest',
    elsewhere: binding.pathMembers,
    text: body === null || !Buffer.isBuffer(bytes) ? null : decodeJsonText(bytes),
  };
}

/** The whole queries, by what was read from them. */
const whole = new WeakMap<object, URLSearchParams>();

/** The parameters of a query; of one that is repeated the last value, on which deployed clients may rely. */
export function parseQuery(text: string): Record<string, string> {
  const all = new URLSearchParams(text);
  const last = Object.fromEntries(all);
  if (text !== '') whole.set(last, all);
  return last;
}

/** Whether a query has a parameter more than once. */
function isRepeated(query: object, name: string): boolean {
  return (whole.get(query)?.getAll(name).length ?? 0) > 1;
}

/** The parameters of a query that are lists in the request of an RPC, with all values. */
export function queryLists({ desc }: Pick<RpcMethod, 'desc'>, query: object): Record<string, string[]> {
  const all = whole.get(query);
  if (all === undefined) return {};
  const lists = desc.input.fields.filter(({ fieldKind, name }) => fieldKind === 'list' && all.has(name));
  return Object.fromEntries(lists.map(({ name }) => [name, all.getAll(name)]));
}
