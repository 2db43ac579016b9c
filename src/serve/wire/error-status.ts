import { Code, ConnectError } from '@connectrpc/connect';
import {
  BadRequestSchema,
  ErrorInfoSchema,
  HelpSchema,
  PreconditionFailureSchema,
  QuotaFailureSchema,
  ResourceInfoSchema,
  RetryInfoSchema,
} from '../../../gen/proto/google/rpc/error_details_pb.js';
import { ERROR_TABLE, type ErrorCode } from '../../contract/errors/error-table.js';
import { itemMessage } from '../../contract/errors/item-message.js';
import { type ErrorItem, httpStatusOf, type ServiceError } from '../../contract/errors/service-error.js';
import { SHAPE_HINT } from '../../contract/input/parse-input.js';
import { shortened, withinBytes } from './encode-status.js';
import { MappingError, mappingErrorToServiceError } from './mapping-error.js';
import { errorType, isServerFault, publicDetail, toServiceError } from './problem.js';
import { connectErrorOf, RpcStatus, type StatusDetail, statusOfConnectError } from './rpc-status.js';

/** Domain of the reasons in `google.rpc.ErrorInfo`. */
const ERROR_DOMAIN = 'control-enforcement';

/** Where every reason is explained, relative to the repository. */
const REASONS_PAGE = 'docs/api-guide.md#errors';

/** Most violations of a status. */
const MAX_VIOLATIONS = 20;
/**
 * Most bytes of the message and all details together, about: clients commonly accept 8 KiB of trailers, in which
 * these are base64, next to the message once more and the notes of the call.
 */
const MAX_STATUS_BYTES = 3_500;
/** Bytes of a detail besides its texts, at most: the name of its type, tags and lengths. */
const DETAIL_OVERHEAD_BYTES = 80;
const VIOLATION_OVERHEAD_BYTES = 12;
/** Most bytes of a message: two texts of ASCII at their limits fit. */
const MAX_MESSAGE_BYTES = 1_050;

/**
 * Converts an error to the status of a call. Its details: `google.rpc.ErrorInfo` (reason: the service's error
 * code; metadata: name, kind, hint and facts), what was wrong with which member or resource, when to retry, and
 * where the error is explained.
 */
export function toRpcStatus(error: unknown): RpcStatus {
  return statusWith(error, statusDetails);
}

/**
 * The same for one item of a reply. The JSON form of a status inside a message can only be read by clients that
 * know the types of its details, so they are the three of the first version: ErrorInfo, BadRequest, RetryInfo.
 */
export function toItemStatus(error: unknown): RpcStatus {
  return statusWith(error, itemDetails);
}

function statusWith(error: unknown, detailsOf: typeof statusDetails): RpcStatus {
  // Protocol errors (deadline, cancellation, size limits) already have a status.
  if (error instanceof ConnectError) return statusOfConnectError(error);
  const serviceError = toServiceError(
    error instanceof MappingError ? mappingErrorToServiceError(error) : error,
  );
  const code: Code = serviceError.options.grpcCode ?? ERROR_TABLE[serviceError.code].grpcCode;
  const message = withinBytes(statusText(serviceError), MAX_MESSAGE_BYTES);
  const details = detailsOf(serviceError, code, Buffer.byteLength(message));
  return new RpcStatus(code, message, details, serviceError.options.challenge);
}

/** The same as `toRpcStatus`, as a ConnectError. */
export function toConnectError(error: unknown): ConnectError {
  return error instanceof ConnectError ? error : connectErrorOf(toRpcStatus(error));
}

/** Text of a status: the detail, the first invalid member and, if there are several, their number. */
export function statusText(error: ServiceError): string {
  const { items, requestValidation } = error.options;
  const first = isServerFault(error) ? undefined : items?.[0];
  if (items === undefined || first === undefined) return publicDetail(error);
  const place = first.field === undefined ? '' : `${first.field}: `;
  const count = countOf(items.length, requestValidation === true);
  return `${publicDetail(error)} (${count}${shortened(place + itemMessage(error, first))})`;
}

/** For failed validation the detail already states the number; it may exceed the number of items. */
function countOf(items: number, isStated: boolean): string {
  if (items === 1) return '';
  return isStated ? 'first: ' : `${items} problems; first: `;
}

/** The details of the status of a call. */
function statusDetails(error: ServiceError, code: Code, messageBytes: number): StatusDetail[] {
  const { name, kind, quota } = error.options;
  const info = infoOf(error);
  const more: StatusDetail[] = [];
  if (code === Code.NotFound && name !== undefined && kind !== undefined) {
    more.push({ desc: ResourceInfoSchema, value: { resourceType: kind, resourceName: shortened(name) } });
  }
  if (quota !== undefined) {
    const violations = [{ subject: quota, description: shortened(publicDetail(error)) }];
    more.push({ desc: QuotaFailureSchema, value: { violations } });
  }
  more.push(...retryOf(error), helpOf(error.code));
  const isPrecondition = code === Code.FailedPrecondition || code === Code.Aborted;
  const used = [info, ...more].reduce((sum, detail) => sum + bytesOf(detail), messageBytes);
  return [info, ...problemsOf(error, isPrecondition, MAX_STATUS_BYTES - used), ...more];
}

/** The details of the status of one item of a reply: those of the first version of the API. */
function itemDetails(error: ServiceError, _code: Code, messageBytes: number): StatusDetail[] {
  const info = infoOf(error);
  const left = MAX_STATUS_BYTES - messageBytes - bytesOf(info);
  return [info, ...problemsOf(error, false, left), ...retryOf(error)];
}

function infoOf(error: ServiceError): StatusDetail {
  const { name, kind, facts, hint } = error.options;
  const metadata: Record<string, string> = { ...facts };
  if (name !== undefined) metadata.name = shortened(name);
  if (kind !== undefined) metadata.kind = kind;
  if (hint !== undefined && hint !== SHAPE_HINT && httpStatusOf(error) < 500) metadata.hint = shortened(hint);
  return { desc: ErrorInfoSchema, value: { reason: error.code, domain: ERROR_DOMAIN, metadata } };
}

/** What is wrong with members of the request; if the request is fine in itself, with the state it meets. */
function problemsOf(error: ServiceError, isPrecondition: boolean, maxBytes: number): StatusDetail[] {
  const { items } = error.options;
  if (items === undefined || items.length === 0 || isServerFault(error)) return [];
  const shown: { place: string; description: string; reason: string }[] = [];
  let left = maxBytes - DETAIL_OVERHEAD_BYTES;
  for (const item of items.slice(0, MAX_VIOLATIONS)) {
    const place = shortened(item.field ?? (isPrecondition ? item.resource : ''));
    const description = shortened(describe(item, itemMessage(error, item)));
    const reason = item.code.toUpperCase();
    left -=
      Buffer.byteLength(place) + Buffer.byteLength(description) + reason.length + VIOLATION_OVERHEAD_BYTES;
    if (shown.length > 0 && left < 0) break;
    shown.push({ place, description, reason });
  }
  if (!isPrecondition) {
    const fieldViolations = shown.map(({ place, ...rest }) => ({ field: place, ...rest }));
    return [{ desc: BadRequestSchema, value: { fieldViolations } }];
  }
  const violations = shown.map(({ place, description, reason }) => ({
    type: reason,
    subject: place,
    description,
  }));
  return [{ desc: PreconditionFailureSchema, value: { violations } }];
}

/** Violations have no members for template facts, so the description includes them. */
function describe({ parameter, parameterLabel, renderedField }: ErrorItem, message: string): string {
  const facts = [
    parameter === undefined ? '' : `parameter ${parameter}`,
    parameterLabel === undefined ? '' : `labelled "${parameterLabel}"`,
    renderedField === undefined ? '' : `at ${renderedField} of the rendered definition`,
  ].filter((fact) => fact !== '');
  return facts.length === 0 ? message : `${message} (${facts.join(', ')})`;
}

function retryOf({ options: { retryAfterSeconds } }: ServiceError): StatusDetail[] {
  if (retryAfterSeconds === undefined) return [];
  const seconds = Math.floor(retryAfterSeconds);
  const retryDelay = { seconds: BigInt(seconds), nanos: Math.round((retryAfterSeconds - seconds) * 1e9) };
  return [{ desc: RetryInfoSchema, value: { retryDelay } }];
}

/** There are few codes, and each has one help. */
const helps = new Map<ErrorCode, StatusDetail>();

function helpOf(code: ErrorCode): StatusDetail {
  const known = helps.get(code);
  if (known !== undefined) return known;
  // Installations have no common address for their documents, so the link is the name of the problem type.
  const links = [{ description: `Cause and cure: ${REASONS_PAGE}`, url: errorType(code) }];
  const made: StatusDetail = { desc: HelpSchema, value: { links } };
  helps.set(code, made);
  return made;
}

/** The size of a detail, roughly: its texts and what is around them. */
function bytesOf({ value }: StatusDetail): number {
  return DETAIL_OVERHEAD_BYTES + textBytes(value);
}

function textBytes(value: unknown): number {
  if (typeof value === 'string') return Buffer.byteLength(value);
  if (typeof value !== 'object' || value === null) return 0;
  let sum = 0;
  for (const [key, one] of Object.entries(value)) sum += key.length + textBytes(one);
  return sum;
}
