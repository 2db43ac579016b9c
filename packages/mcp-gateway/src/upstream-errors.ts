import { ProtocolError, SdkError, SdkErrorCode } from '@modelcontextprotocol/client';
import type { FoldedName } from '../../exact-json/src/index.js';
import { ResultTooLargeError } from './bounded-fetch.js';
import { type GatewayError, gatewayError, messageOf } from './errors.js';
import { inOtherCase } from './protocol-names.js';

/** What callers are told of a server that fails. */
export interface UpstreamErrors {
  /** It is not asked, because it did not answer in time before. */
  silent(): GatewayError;
  tooLarge(): GatewayError;
  /** Readers could differ in what it sent. */
  unreadable(error: Error): GatewayError;
  inOtherCase(found: FoldedName): GatewayError;
  unanswered(): GatewayError;
  /** What is thrown for a failed request. */
  failureOf(error: unknown, signal: AbortSignal): unknown;
}

export function createUpstreamErrors(upstream: string, maxBytes: number): UpstreamErrors {
  const failed = (what: string): GatewayError =>
    gatewayError('upstreamFailed', `the server "${upstream}" ${what}`, { upstream });
  const timedOut = (what: string): GatewayError =>
    gatewayError('upstreamTimeout', `the server "${upstream}" ${what}`, { upstream });
  const tooLarge = (): GatewayError =>
    gatewayError(
      'resultTooLarge',
      `the server "${upstream}" answered with more than ${maxBytes} bytes; ask for less`,
      { upstream, maxBytes },
    );
  return {
    tooLarge,
    silent: () => timedOut('does not answer; it is asked again in the background'),
    // Other errors quote what it sent, which is not checked.
    unreadable: ({ name, message }) =>
      failed(`sent what cannot be checked${/^(?:Json|SyntaxError)/.test(name) ? `: ${message}` : ''}`),
    inOtherCase: (found) => failed(`sent what cannot be checked: ${inOtherCase(found)}`),
    unanswered: () => failed('ended its answer before it was complete'),
    failureOf(error, signal) {
      if (error instanceof ResultTooLargeError) return tooLarge();
      if (signal.aborted) return signal.reason;
      if (error instanceof ProtocolError) return error;
      if (error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout)
        return timedOut('did not answer in time');
      return failed(`failed: ${messageOf(error)}`);
    },
  };
}
