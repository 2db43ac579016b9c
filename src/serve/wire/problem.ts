import type { JsonObject, JsonValue } from '../../../packages/exact-json/src/index.js';
import { ERROR_TABLE, type ErrorCode } from '../../contract/errors/error-table.js';
import { itemMessage } from '../../contract/errors/item-message.js';
import { type ErrorItem, httpStatusOf, ServiceError } from '../../contract/errors/service-error.js';

/** Base of the `type` member of problem bodies. */
export const ERROR_TYPE_BASE = 'urn:control-enforcement:error:';

/** The `type` of problems with a code. */
export function errorType(code: ErrorCode): string {
  return ERROR_TYPE_BASE + code.toLowerCase().replaceAll('_', '-');
}

const REASONS: Readonly<Record<number, string>> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  405: 'MethodNotAllowed',
  409: 'Conflict',
  412: 'PreconditionFailed',
  413: 'PayloadTooLarge',
  422: 'UnprocessableEntity',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
  504: 'GatewayTimeout',
};

/** Texts for server faults; no other details are sent. */
const SERVER_DETAILS: Partial<Record<ErrorCode, string>> = {
  DATABASE_ERROR: 'The database refused the operation.',
};
const GENERIC_SERVER_DETAIL = 'An unexpected error occurred. Nothing about it is known to the caller.';
const MAX_TEXT_LENGTH = 500;

/** Wraps any thrown value. Everything but a ServiceError is a server fault. */
export function toServiceError(error: unknown): ServiceError {
  if (error instanceof ServiceError) return error;
  return new ServiceError('INTERNAL_ERROR', { detail: GENERIC_SERVER_DETAIL, cause: error });
}

/** Whether it is a server fault, of which only the kind is disclosed. */
export function isServerFault(error: ServiceError): boolean {
  return httpStatusOf(error) === 500;
}

/** The detail text that may be sent to clients. */
export function publicDetail(error: ServiceError): string {
  if (isServerFault(error)) return SERVER_DETAILS[error.code] ?? GENERIC_SERVER_DETAIL;
  return shorten(error.options.detail);
}

/** The items that may be sent to clients, with values redacted. */
export function publicItems(error: ServiceError): JsonObject[] {
  if (isServerFault(error)) return [];
  return (error.options.items ?? []).map((item) => publicItem(item, itemMessage(error, item)));
}

function publicItem(item: ErrorItem, message: string): JsonObject {
  const shown: JsonObject = { resource: item.resource };
  if (item.field !== undefined) shown.field = item.field;
  shown.code = item.code;
  shown.message = message;
  const value = redact(item.value);
  if (value !== undefined) shown.value = value;
  if (item.parameter !== undefined) shown.parameter = item.parameter;
  if (item.parameterLabel !== undefined) shown.parameter_label = item.parameterLabel;
  if (item.renderedField !== undefined) shown.rendered_field = item.renderedField;
  return shown;
}

/** Booleans and numbers are harmless; values that may contain text are not shown. */
function redact(value: JsonValue | undefined): JsonValue | undefined {
  if (value === undefined || value === null) return undefined;
  return typeof value === 'boolean' || typeof value === 'number' ? value : '[REDACTED]';
}

/** Facts of the request for a problem body. */
export interface ProblemContext {
  /** Request path without query, percent-decoded. */
  readonly instance: string;
  readonly now: Date;
  /** Included for server faults so that the log entry can be found. */
  readonly requestId: string;
}

/** The problem body of an error (RFC 7807 shape), members in the order of the REST contract. */
export function problemBody(error: ServiceError, context: ProblemContext): JsonObject {
  const status = httpStatusOf(error);
  const serverFault = isServerFault(error);
  const items = publicItems(error);
  const { hint, name, kind, retryAfterSeconds } = error.options;
  const body: JsonObject = {
    type: errorType(error.code),
    title: ERROR_TABLE[error.code].title,
    status,
    detail: publicDetail(error),
    instance: context.instance,
    error_code: error.code,
    kind: 'Status',
    api_version: 'v1',
    reason: REASONS[status] ?? 'Unknown',
    metadata: {
      ...(serverFault ? { request_id: context.requestId } : {}),
      timestamp: timestamp(context.now),
    },
  };
  if (items.length > 0) body.errors = items;
  const details: JsonObject = {};
  if (name !== undefined) details.name = name;
  if (kind !== undefined) details.kind = kind;
  if (items.length > 0) details.causes = items;
  if (retryAfterSeconds !== undefined) details.retry_after_seconds = retryAfterSeconds;
  if (error.options.requestValidation !== true && Object.keys(details).length > 0) body.details = details;
  if (hint !== undefined && status < 500) body.hint = shorten(hint);
  return body;
}

function timestamp(now: Date): string {
  // Clients expect microseconds and a numeric zone.
  return now.toISOString().replace(/\.(\d{3})Z$/, '.$1000+00:00');
}

function shorten(text: string): string {
  const collapsed = text.replace(/\s+/g, ' ').trim();
  return collapsed.length > MAX_TEXT_LENGTH ? `${collapsed.slice(0, MAX_TEXT_LENGTH - 3)}...` : collapsed;
}
