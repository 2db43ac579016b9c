import { randomUUID } from 'node:crypto';
import type { EvaluationCaller } from '../../decide/decisions/evaluation-caller.js';
import { isStorable } from '../../storage/database/text.js';

/** Position of a check in the trace of its caller. */
export interface TraceIds {
  readonly traceId: string;
  readonly spanId: string;
  /** Whether the caller did not send both of them. */
  readonly madeUp: boolean;
}

/** Longer than any id in use; longer values are not ids. */
const MAX_ID_LENGTH = 128;
/** W3C trace context: version, trace, parent span, flags. */
const TRACEPARENT = /^[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}/;

/**
 * The ids of an evaluation: those of its own `traceparent`, which is valid; else those sent by the caller, in separate
 * headers or in `traceparent`. Missing ones are generated.
 */
export function traceIdsOf(caller: Pick<EvaluationCaller, 'header'>, own?: string): TraceIds {
  const [, trace, span] = own === undefined ? [] : (TRACEPARENT.exec(own) ?? []);
  if (trace !== undefined && span !== undefined) return { traceId: trace, spanId: span, madeUp: false };
  const parent = TRACEPARENT.exec(caller.header('traceparent') ?? '');
  const traceId = readId(caller.header('x-trace-id')) ?? parent?.[1];
  const spanId = readId(caller.header('x-span-id')) ?? parent?.[2];
  return {
    traceId: traceId ?? randomUUID().replaceAll('-', ''),
    spanId: spanId ?? newSpanId(),
    madeUp: traceId === undefined || spanId === undefined,
  };
}

/** The random digits of a UUID: Node.js buffers those in advance, unlike other random bytes. */
function newSpanId(): string {
  const id = randomUUID();
  return id.slice(0, 8) + id.slice(24, 32);
}

function readId(value: string | undefined): string | undefined {
  const id = value?.trim() ?? '';
  return id !== '' && id.length <= MAX_ID_LENGTH && isStorable(id) ? id : undefined;
}
