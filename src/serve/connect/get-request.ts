import { base64Decode } from '@bufbuild/protobuf/wire';
import type { ConnectError } from '@connectrpc/connect';
import type { UniversalHandler, UniversalServerResponse } from '@connectrpc/connect/protocol';
import { codeToHttpStatus, errorToJsonBytes } from '@connectrpc/connect/protocol-connect';
import { callerError, type ServiceError } from '../../contract/errors/service-error.js';
import { JsonCopy } from '../wire/json-copy.js';
import { MEDIA_TYPES } from '../wire/media-types.js';
import { only } from './universal-handler.js';

/**
 * RPCs without side effects may be called with GET: the message is in the query, and there is no body
 * (https://connectrpc.com/docs/protocol#unary-get-request).
 */
export function isGetCall(
  { allowedMethods, method }: Pick<UniversalHandler, 'allowedMethods' | 'method'>,
  verb: string,
): boolean {
  return verb === 'GET' && method.methodKind === 'unary' && allowedMethods.includes('GET');
}

/** The reply to GET for a stream, which Connect would take for a call of an unknown content type. */
export const METHOD_NOT_ALLOWED: UniversalServerResponse = { status: 405 };

/** What is wrong with the query, in terms of its parameters: Connect reports some of it as an internal error. */
export function queryProblem(url: string): ServiceError | undefined {
  const query = queryOf(url);
  const version = query.get('connect');
  if (version !== null && version !== 'v1') return invalid('connect', 'must be "v1", or absent');
  const encoding = query.get('encoding');
  if (encoding !== 'json' && encoding !== 'proto') return invalid('encoding', 'must be "json" or "proto"');
  if (query.get('message') === null) return invalid('message', 'is missing; an empty message is message=');
  const base64 = query.get('base64');
  if (base64 !== null && base64 !== '1') return invalid('base64', 'must be "1", or absent');
  if (messageBytes(query) === undefined) return invalid('message', 'is not valid base64');
  return undefined;
}

function invalid(field: string, problem: string): ServiceError {
  return callerError('VALIDATION_ERROR', {
    detail: `The query parameter ${field} of the call ${problem}.`,
    hint: 'Send GET /SERVICE/METHOD?connect=v1&encoding=json&message=MESSAGE, or POST with the message as the body.',
    items: [{ resource: 'Request', field, code: 'invalid_query', message: `${field} ${problem}` }],
    httpStatus: 400,
  });
}

/** The message of a GET call if it is JSON; null for other encodings. */
export function jsonOfQuery(url: string): JsonCopy | null {
  const query = queryOf(url);
  if (query.get('encoding') !== 'json') return null;
  const copy = new JsonCopy(false);
  copy.add(messageBytes(query) ?? new Uint8Array());
  return copy;
}

/** The reply to a GET call that may not run. There is no body whose reading could report it. */
export function refusedGet(status: ConnectError): UniversalServerResponse {
  const body = errorToJsonBytes(status, undefined);
  const header = new Headers(status.metadata);
  const own = { 'content-type': MEDIA_TYPES.json, 'content-length': String(body.byteLength), ...UNCACHED };
  for (const [name, value] of Object.entries(own)) header.set(name, value);
  return { status: codeToHttpStatus(status.code), header, body: only(body) };
}

/** Replies depend on the key of the caller, and change with every revision. */
export const UNCACHED = { 'cache-control': 'private, no-store' } as const;

function queryOf(url: string): URLSearchParams {
  const start = url.indexOf('?');
  return new URLSearchParams(start === -1 ? '' : url.slice(start));
}

/** Undefined if it cannot be decoded. */
function messageBytes(query: URLSearchParams): Uint8Array | undefined {
  const message = query.get('message') ?? '';
  if (query.get('base64') !== '1') return Buffer.from(message);
  try {
    return base64Decode(message);
  } catch {
    return undefined;
  }
}
