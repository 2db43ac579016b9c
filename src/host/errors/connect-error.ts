import { Code, ConnectError } from '@connectrpc/connect';
import {
  BadRequestSchema,
  ErrorInfoSchema,
  RetryInfoSchema,
} from '../../../gen/proto/google/rpc/error_details_pb.js';
import { ERROR_TABLE } from '../../errors/error-table.js';
import type { ServiceError } from '../../errors/service-error.js';
import { isServerFault, publicDetail, toServiceError } from './problem.js';

/** Domain of the reasons in `google.rpc.ErrorInfo`. */
export const ERROR_DOMAIN = 'control-enforcement';

/** Most field violations sent in trailers; clients commonly accept 8 KiB of them. */
const MAX_VIOLATIONS = 20;

/**
 * Any error as a status with `google.rpc.ErrorInfo` (reason: our error code) and, when members are to blame,
 * `google.rpc.BadRequest`.
 */
export function toConnectError(error: unknown): ConnectError {
  // What the protocol itself reports (deadline, cancellation, size limits) already is a status.
  if (error instanceof ConnectError) return error;
  const serviceError = toServiceError(error);
  return new ConnectError(
    // Half of a surrogate pair, which JSON may carry, cannot be sent.
    statusMessage(serviceError).toWellFormed(),
    ERROR_TABLE[serviceError.code].grpcCode,
    undefined,
    statusDetails(serviceError),
  );
}

/** Text of a status: the detail and the first offending member. */
export function statusMessage(error: ServiceError): string {
  const first = isServerFault(error) ? undefined : error.options.items?.[0];
  if (first === undefined) return publicDetail(error);
  const place = first.field === undefined ? '' : `${first.field}: `;
  return `${publicDetail(error)} (${place}${first.message})`;
}

type OutgoingDetails = NonNullable<ConstructorParameters<typeof ConnectError>[3]>;

function statusDetails(error: ServiceError): OutgoingDetails {
  const { name, kind, items, retryAfterSeconds } = error.options;
  const metadata: Record<string, string> = {};
  if (name !== undefined) metadata.name = name.toWellFormed();
  if (kind !== undefined) metadata.kind = kind;
  const details: OutgoingDetails = [
    { desc: ErrorInfoSchema, value: { reason: error.code, domain: ERROR_DOMAIN, metadata } },
  ];
  if (items !== undefined && items.length > 0 && !isServerFault(error)) {
    const fieldViolations = items.slice(0, MAX_VIOLATIONS).map((item) => ({
      field: (item.field ?? '').toWellFormed(),
      description: item.message.toWellFormed(),
      reason: item.code.toUpperCase(),
    }));
    details.push({ desc: BadRequestSchema, value: { fieldViolations } });
  }
  if (retryAfterSeconds !== undefined) {
    const seconds = Math.floor(retryAfterSeconds);
    const retryDelay = { seconds: BigInt(seconds), nanos: Math.round((retryAfterSeconds - seconds) * 1e9) };
    details.push({ desc: RetryInfoSchema, value: { retryDelay } });
  }
  return details;
}

/** Whether a status is a fault of the server that has to be logged. */
export function isUnexpected(error: ConnectError): boolean {
  return error.code === Code.Internal || error.code === Code.Unknown || error.code === Code.DataLoss;
}
