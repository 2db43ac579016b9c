import type { AnyHandler, CallContext, HandlerCall } from '../../contract/call/handler.js';
import { type ReceivedRequest, requestWarnings } from '../../contract/warnings/request-warnings.js';
import type { Warning } from '../../contract/warnings/warning.js';

/** A call as passed to a handler. */
export interface PreparedCall {
  readonly call: HandlerCall;
  /** Must be called when the reply is ready: warns about parts without effect, unless the handler does. */
  finish(): void;
}

/** Lets a handler query which parts of its request have no effect. They are determined on first use. */
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
  // Not a copy: reading the signal starts the clock of a call.
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
