import { ProtocolError, SdkError, SdkErrorCode } from '@modelcontextprotocol/client';
import { type FoldedName, inOtherCase } from '../../exact-json/src/index.js';
import { ResultTooLargeError } from './bounded-fetch.js';
import { GatewayError, messageOf } from './errors.js';

/** What callers are told of a server that fails. */
export type UpstreamErrors = ReturnType<typeof createUpstreamErrors>;

export function createUpstreamErrors(upstream: string, maxBytes: number) {
  const told = (reason: GatewayError['reason'], what: string, more = {}): GatewayError =>
    new GatewayError(reason, `the server "${upstream}" ${what}`, { upstream, ...more });
  const failed = (what: string): GatewayError => told('upstreamFailed', what);
  const tooLarge = (): GatewayError =>
    told('resultTooLarge', `answered with more than ${maxBytes} bytes; ask for less`, { maxBytes });
  return {
    tooLarge,
    /** It is not asked, because it did not answer in time before. */
    silent: () => told('upstreamTimeout', 'does not answer; it is asked again in the background'),
    /** Readers could differ in what it sent. Other errors quote it, which is not checked. */
    unreadable: ({ name, message }: Error) =>
      failed(`sent what cannot be checked${/^(?:Json|SyntaxError)/.test(name) ? `: ${message}` : ''}`),
    inOtherCase: (found: FoldedName) =>
      failed(`sent what cannot be checked: ${found.path} ${inOtherCase(found)}`),
    unanswered: () => failed('ended its answer before it was complete'),
    /** What is thrown for a failed request. */
    failureOf(error: unknown, signal: AbortSignal): unknown {
      if (error instanceof ResultTooLargeError) return tooLarge();
      if (signal.aborted) return signal.reason;
      if (error instanceof ProtocolError) return error;
      if (error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout)
        return told('upstreamTimeout', 'did not answer in time');
      return failed(`failed: ${messageOf(error)}`);
    },
  };
}
