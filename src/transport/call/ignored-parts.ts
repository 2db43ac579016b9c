import type { AnyHandler, CallContext, HandlerCall } from '../../contract/call/handler.js';
import { type ReceivedRequest, requestWarnings } from '../../contract/warnings/request-warnings.js';
import type { Warning } from '../../contract/warnings/warning.js';

/** A call as a handler gets it. */
export interface PreparedCall {
  readonly call: HandlerCall;
  /** To be called with the reply at hand: tells the caller what has no effect, unless the handler does. */
  finish(): void;
}

/** Lets a handler ask what of its request has no effect. Nothing is looked for until it is wanted. */
export function prepareCall(
  handler: AnyHandler,
  context: CallContext,
  received: () => ReceivedRequest,
): PreparedCall {
  let found: readonly Warning[] | undefined;
  const ignoredParts = (): readonly Warning[] => {
    found ??= requestWarnings(received());
    return found;
  };
  // Not a copy: asking for the signal starts the clock of a call.
  const call = Object.create(context, { ignoredParts: { value: ignoredParts } }) as HandlerCall;
  return {
    call,
    finish() {
      if (found === undefined && !isBulk(handler)) context.warn(ignoredParts());
    },
  };
}

function isBulk(handler: AnyHandler): boolean {
  return 'isBulk' in handler && handler.isBulk === true;
}
