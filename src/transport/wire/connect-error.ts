import { Code, ConnectError } from '@connectrpc/connect';
import {
  BadRequestSchema,
  ErrorInfoSchema,
  RetryInfoSchema,
} from '../../../gen/proto/google/rpc/error_details_pb.js';
import { ERROR_TABLE } from '../../contract/errors/error-table.js';
import type { ErrorItem, ServiceError } from '../../contract/errors/service-error.js';
import { SHAPE_HINT } from '../../contract/input/parse-input.js';
import { MappingError, mappingErrorToServiceError } from './mapping-error.js';
import { httpStatusOf, isServerFault, publicDetail, toServiceError } from './problem.js';
import { connectErrorOf, RpcStatus, type StatusDetail, statusOfConnectError } from './rpc-status.js';

/** Domain of the reasons in `google.rpc.ErrorInfo`. */
export const ERROR_DOMAIN = 'control-enforcement';

/** Most field violations in trailers; clients commonly accept 8 KiB of them. */
const MAX_VIOLATIONS = 20;
/** Most characters of all violations together, for the same reason: parameter names are arbitrary. */
const MAX_VIOLATIONS_LENGTH = 3_000;
/** Most characters of a text in a status. */
const MAX_TEXT_LENGTH = 500;

/**
 * Converts an error to a status with `google.rpc.ErrorInfo` (reason: the service's error code; metadata:
 * name, kind, hint and facts) and, for invalid members, `google.rpc.BadRequest` with as many of them as fit.
 */
export function toRpcStatus(error: unknown): RpcStatus {
  // Protocol errors (deadline, cancellation, size limits) already have a status.
  if (error instanceof ConnectError) return statusOfConnectError(error);
  const serviceError = toServiceError(
    error instanceof MappingError ? mappingErrorToServiceError(error) : error,
  );
  return new RpcStatus(
    serviceError.options.grpcCode ?? ERROR_TABLE[serviceError.code].grpcCode,
    // Lone surrogates, which JSON may contain, cannot be sent.
    statusText(serviceError).toWellFormed(),
    statusDetails(serviceError),
  );
}

/** The same as a ConnectError. */
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
  return `${publicDetail(error)} (${count}${shortened(place + first.message)})`;
}

/** For failed validation the detail already states the number; it may exceed the number of items. */
function countOf(items: number, isStated: boolean): string {
  if (items === 1) return '';
  return isStated ? 'first: ' : `${items} problems; first: `;
}

function statusDetails(error: ServiceError): StatusDetail[] {
  const { name, kind, items, facts, hint, retryAfterSeconds } = error.options;
  const metadata: Record<string, string> = { ...facts };
  if (name !== undefined) metadata.name = name.toWellFormed();
  if (kind !== undefined) metadata.kind = kind;
  if (hint !== undefined && hint !== SHAPE_HINT && httpStatusOf(error) < 500) metadata.hint = shortened(hint);
  const details: StatusDetail[] = [
    { desc: ErrorInfoSchema, value: { reason: error.code, domain: ERROR_DOMAIN, metadata } },
  ];
  if (items !== undefined && items.length > 0 && !isServerFault(error)) {
    details.push({ desc: BadRequestSchema, value: { fieldViolations: violationsOf(items) } });
  }
  if (retryAfterSeconds !== undefined) {
    const seconds = Math.floor(retryAfterSeconds);
    const retryDelay = { seconds: BigInt(seconds), nanos: Math.round((retryAfterSeconds - seconds) * 1e9) };
    details.push({ desc: RetryInfoSchema, value: { retryDelay } });
  }
  return details;
}

function violationsOf(items: readonly ErrorItem[]) {
  const violations: { field: string; description: string; reason: string }[] = [];
  let length = 0;
  for (const item of items.slice(0, MAX_VIOLATIONS)) {
    const field = shortened(item.field ?? '');
    const description = shortened(describe(item));
    length += field.length + description.length;
    if (violations.length > 0 && length > MAX_VIOLATIONS_LENGTH) break;
    violations.push({ field, description, reason: item.code.toUpperCase() });
  }
  return violations;
}

/** Field violations have no members for template facts, so the description includes them. */
function describe({ message, parameter, parameterLabel, renderedField }: ErrorItem): string {
  const facts = [
    parameter === undefined ? '' : `parameter ${parameter}`,
    parameterLabel === undefined ? '' : `labelled "${parameterLabel}"`,
    renderedField === undefined ? '' : `at ${renderedField} of the rendered definition`,
  ].filter((fact) => fact !== '');
  return facts.length === 0 ? message : `${message} (${facts.join(', ')})`;
}

/** Shortens a text to fit into trailers, without lone surrogates. */
function shortened(text: string): string {
  return (text.length > MAX_TEXT_LENGTH ? `${text.slice(0, MAX_TEXT_LENGTH - 1)}…` : text).toWellFormed();
}

/** Whether a status is a server fault, which is logged. */
export function isUnexpected({ code }: { readonly code: Code }): boolean {
  return code === Code.Internal || code === Code.Unknown || code === Code.DataLoss;
}
