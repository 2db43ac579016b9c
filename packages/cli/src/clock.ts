/** A reply with the clock of the server, in milliseconds since 1970 of either clock. */
export interface TimedReply {
  /** Of its Date header, which has whole seconds: the clock showed up to 1 s more. */
  readonly dateMs: number;
  readonly sentMs: number;
  readonly receivedMs: number;
}

/** What is certainly different, in milliseconds, before it is told: differences of 2 s and the time of the call are. */
const TOLERATED_MS = 1_000;
const SECOND_MS = 1_000;

/** By how much the clock of the server is surely ahead of this one (negative: behind it); 0 if they may agree. */
export function surelyAheadMs({ dateMs, sentMs, receivedMs }: TimedReply): number {
  const least = dateMs - receivedMs;
  const most = dateMs + SECOND_MS - sentMs;
  return least > 0 ? least : Math.min(most, 0);
}

/** What is wrong with the clocks; undefined if they agree as far as it can be measured. */
export function clockProblem(reply: TimedReply): string | undefined {
  const aheadMs = surelyAheadMs(reply);
  if (Math.abs(aheadMs) <= TOLERATED_MS) return undefined;
  const seconds = (Math.abs(aheadMs) / SECOND_MS).toFixed(1);
  return `the clock of the server is at least ${seconds} s ${aheadMs > 0 ? 'ahead of' : 'behind'} this one`;
}
