import type { IncomingHttpHeaders } from 'node:http';
import {
  type DuplicateMembers,
  isObject,
  JsonDuplicateError,
  JsonNumberError,
  JsonSyntaxError,
  JsonTooDeepError,
  JsonTooLargeError,
  JsonUndecodableError,
  type JsonValue,
  parseJson,
} from '../../../packages/exact-json/src/index.js';
import type { ServiceError } from '../../contract/errors/service-error.js';
import { invalidRequest } from '../../contract/input/parse-input.js';
import { pathText } from '../../contract/warnings/request-warnings.js';
import { MEDIA_TYPES, mediaTypeOf } from '../wire/media-types.js';

/** The body cannot be decoded: answered 400 with `{"detail": …}` alone, as expected by deployed clients. */
export class UndecodableBodyError extends Error {}

/** A request with its complete body. */
export interface ArrivedBody {
  readonly headers: IncomingHttpHeaders;
  /** A Buffer; other values count as no body. */
  readonly body?: unknown;
}

/** The bytes of a body that only has to be parsed; undefined for one that `readBody` refuses without parsing. */
export function jsonBytes({ body, headers }: ArrivedBody): Buffer | undefined {
  const encoding = headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity') return undefined;
  if (!Buffer.isBuffer(body) || body.length === 0) return undefined;
  return mediaTypeOf(headers['content-type']).isJson ? body : undefined;
}

/**
 * The body of a JSON route, or a problem that says why there is no usable one. Throws UndecodableBodyError
 * for bytes that are not text.
 */
export function readBody(
  request: ArrivedBody,
  duplicates: DuplicateMembers,
): { value: JsonValue } | { problem: ServiceError } {
  const bytes = request.body;
  const encoding = request.headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity') {
    throw new UndecodableBodyError('Compressed bodies are not accepted.');
  }
  if (!Buffer.isBuffer(bytes) || bytes.length === 0)
    return { problem: problem('missing', 'Field required: the request needs a JSON body') };
  if (!mediaTypeOf(request.headers['content-type']).isJson) {
    return {
      problem: problem('model_attributes_type', `the body must be JSON, sent as ${MEDIA_TYPES.json}`),
    };
  }
  return parseBody(bytes, duplicates);
}

function parseBody(
  bytes: Buffer,
  duplicates: DuplicateMembers,
): { value: JsonValue } | { problem: ServiceError } {
  try {
    const value = parseJson(bytes, { duplicates });
    if (value === null)
      return { problem: problem('missing', 'Field required: the request needs a JSON body') };
    if (isObject(value)) return { value };
    return { problem: problem('model_attributes_type', 'the body must be a JSON object', undefined, value) };
  } catch (error) {
    if (error instanceof JsonUndecodableError) throw new UndecodableBodyError(error.message);
    if (error instanceof JsonTooDeepError) return { problem: problem('recursion_loop', error.message) };
    if (error instanceof JsonTooLargeError) {
      const message = `${error.message}: send fewer in a request, or use gRPC or Connect with the binary format`;
      return { problem: problem('too_long', message) };
    }
    if (error instanceof JsonDuplicateError) {
      const message = 'stands in this object more than once: send it once';
      return { problem: problem('duplicate_member', message, pathText(error.path)) };
    }
    if (error instanceof JsonNumberError) {
      return { problem: problem('finite_number', error.message, `[${error.offset}]`) };
    }
    if (error instanceof JsonSyntaxError) {
      return { problem: problem('json_invalid', `the body is ${error.message}`, `[${error.offset}]`, {}) };
    }
    throw error;
  }
}

function problem(code: string, message: string, field?: string, value?: JsonValue): ServiceError {
  return invalidRequest([
    {
      resource: 'Request',
      ...(field === undefined ? {} : { field }),
      code,
      message,
      ...(value === undefined ? {} : { value }),
    },
  ]);
}
