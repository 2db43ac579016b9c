import { ProtocolError } from '@modelcontextprotocol/server';

/** Codes of errors of JSON-RPC that the gateway makes; they are of the range for implementations. */
export const ERROR_CODES = {
  /** Controls deny a resource, prompt, completion or list, or withhold it. A denied tool is a result with `isError`. */
  denied: -32_010,
  /** The upstream did not answer in time. */
  upstreamTimeout: -32_011,
  /** A message of the upstream is larger than `max_result_bytes`. */
  resultTooLarge: -32_012,
  /** The upstream cannot be reached, or its connection broke. */
  upstreamFailed: -32_013,
  /** More calls than `max_calls`, or more sessions than `max_sessions`. */
  busy: -32_014,
  /** `mapping` finds no agent for the call. */
  noAgent: -32_015,
  invalidParams: -32_602,
  methodNotFound: -32_601,
} as const;

/** An error that the gateway makes, unlike those that servers send. */
export class GatewayError extends ProtocolError {
  readonly reason: keyof typeof ERROR_CODES;

  constructor(
    reason: keyof typeof ERROR_CODES,
    message: string,
    more: Readonly<Record<string, unknown>> = {},
  ) {
    super(ERROR_CODES[reason], message, { reason, ...more });
    this.reason = reason;
  }
}

/** An error of JSON-RPC as the answer to a request over HTTP that cannot be passed on. */
export function failure(status: number, code: number, message: string): Response {
  return Response.json({ jsonrpc: '2.0', error: { code, message }, id: null }, { status });
}

/** The text of anything that was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Lines about what the gateway does, for those who run it. */
export type Log = (
  level: 'info' | 'warn' | 'error',
  message: string,
  more?: Readonly<Record<string, unknown>>,
) => void;
