import { type JsonValue, withoutStack } from '../../../packages/exact-json/src/index.js';
import { ERROR_TABLE, type ErrorCode } from './error-table.js';
import type { GrpcCode } from './grpc-code.js';

/** Resource of an error item. */
export type ErrorResource =
  | 'Agent'
  | 'Step'
  | 'Evaluator'
  | 'Control'
  | 'ControlBinding'
  | 'Policy'
  | 'Evaluation'
  | 'Request'
  | 'Namespace'
  | 'Pack'
  | 'PackInstallation'
  | 'Halt'
  | 'Destination'
  | 'Delivery'
  | 'Approval'
  | 'SamplingRule'
  | 'Sample'
  | 'Event'
  | 'ApiKey';

/** One problem of a request. */
export interface ErrorItem {
  readonly resource: ErrorResource;
  /** Dotted path of the offending member, list indexes as `[i]`. Absent when it is not a single member. */
  readonly field?: string;
  /** Stable machine code, for example `missing` or `string_type`. */
  readonly code: string;
  readonly message: string;
  /** The offending value; redacted before it leaves the service. */
  readonly value?: JsonValue;
  /** Whether it is a word, a number or a name that the author of the request typed, so that messages may quote it. */
  readonly quotable?: boolean;
  /** The template parameter that caused the problem. */
  readonly parameter?: string;
  /** Its display name. */
  readonly parameterLabel?: string;
  /** Path of the offending member inside the rendered definition of a template. */
  readonly renderedField?: string;
}

/** Members of an error besides its code. */
export interface ErrorOptions {
  /** Explanation of this case. */
  readonly detail: string;
  /** Advice for the caller. */
  readonly hint?: string;
  readonly items?: readonly ErrorItem[];
  /** Name of the resource the error is about: id as text, or the clashing name. */
  readonly name?: string;
  /** Kind of the resource the error is about. */
  readonly kind?: ErrorResource;
  /** True for a request that failed validation of its shape: its problem body carries no `details`. */
  readonly requestValidation?: boolean;
  /** Overrides the HTTP status of the table, for codes that deployed clients expect with two statuses. */
  readonly httpStatus?: number;
  /** Overrides the gRPC code of the table; used with `httpStatus` where the statuses differ in meaning. */
  readonly grpcCode?: GrpcCode;
  /** Machine-readable details; over gRPC, entries of the metadata of `google.rpc.ErrorInfo`. */
  readonly facts?: Readonly<Record<string, string>>;
  /** For RATE_LIMITED: what the limit counts for, for example `API key`. */
  readonly quota?: string;
  /** For 401: the value of WWW-Authenticate, if it is not that of API keys. */
  readonly challenge?: string;
  /** Seconds after which a retry is useful. */
  readonly retryAfterSeconds?: number;
  /** The internal cause. Logged, never sent. */
  readonly cause?: unknown;
}

/** The only error type of the service: a stable code and the details of the case. */
export class ServiceError extends Error {
  readonly code: ErrorCode;
  readonly options: ErrorOptions;

  constructor(code: ErrorCode, options: ErrorOptions) {
    super(options.detail, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'ServiceError';
    this.code = code;
    this.options = options;
  }
}

/** HTTP status of an error. */
export function httpStatusOf(error: ServiceError): number {
  return error.options.httpStatus ?? ERROR_TABLE[error.code].httpStatus;
}

/** An error about an invalid request: it needs no stack trace. */
export function callerError(code: ErrorCode, options: ErrorOptions): ServiceError {
  return withoutStack(() => new ServiceError(code, options));
}
