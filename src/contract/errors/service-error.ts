import type { Code } from '@connectrpc/connect';
import { withoutStack } from '../../json/json-errors.js';
import type { JsonValue } from '../../json/json-value.js';
import type { ErrorCode } from './error-table.js';

/** What an error item is about. */
export type ErrorResource = 'Agent' | 'Step' | 'Evaluator' | 'Control' | 'Policy' | 'Evaluation' | 'Request';

/** One problem of a request. */
export interface ErrorItem {
  readonly resource: ErrorResource;
  /** Dotted path of the offending member, list indexes as `[i]`. Absent when no single member is to blame. */
  readonly field?: string;
  /** Stable machine code, for example `missing` or `string_type`. */
  readonly code: string;
  readonly message: string;
  /** The offending value; redacted before it leaves the service. */
  readonly value?: JsonValue;
  /** The template parameter to blame. */
  readonly parameter?: string;
  /** Its name for people. */
  readonly parameterLabel?: string;
  /** Path of the offending member inside the definition that a template gives. */
  readonly renderedField?: string;
}

/** Everything an error may carry beside its code. */
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
  /** Overrides the HTTP status of the table, for codes that deployed clients know with two statuses. */
  readonly httpStatus?: number;
  /** Overrides the gRPC code of the table; goes with `httpStatus` where the two statuses mean different things. */
  readonly grpcCode?: Code;
  /** More about the case for machines; over gRPC, entries of the metadata of `google.rpc.ErrorInfo`. */
  readonly facts?: Readonly<Record<string, string>>;
  /** Seconds after which a retry makes sense. */
  readonly retryAfterSeconds?: number;
  /** What went wrong inside. Logged, never sent. */
  readonly cause?: unknown;
}

/** The one error type of the service: a stable code and what is known about the case. */
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

/** An error that tells a caller what is wrong with its request: where it was made is of no interest. */
export function callerError(code: ErrorCode, options: ErrorOptions): ServiceError {
  return withoutStack(() => new ServiceError(code, options));
}
