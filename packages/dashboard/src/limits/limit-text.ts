import type { Duration } from '@bufbuild/protobuf/wkt';
import type { LimitStatus } from '@gen/enforcement/v1/evaluation_service_pb.js';

type Limit = Pick<LimitStatus, 'limit' | 'remaining'>;

/** The used share of a limit, for example `80 %`. */
export function usedShare(status: Limit | undefined): string {
  if (status === undefined) return '–';
  const { limit, remaining } = status;
  if (limit <= 0) return '100 %';
  return `${Math.round(Math.min(1, Math.max(0, 1 - remaining / limit)) * 100)} %`;
}

/** What is left of a limit, for example `4 of 20`. */
export function limitText(status: Limit | undefined): string {
  if (status === undefined) return '–';
  return `${status.remaining.toLocaleString('en')} of ${status.limit.toLocaleString('en')}`;
}

const UNITS = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
] as const;

/** A time from now, for example `in 2 hours`, rounded up so that it is over by then. */
export function durationText(
  duration: Pick<Duration, 'seconds' | 'nanos'> | undefined,
  absent: string,
): string {
  if (duration === undefined) return absent;
  const seconds = Math.ceil(Number(duration.seconds) + duration.nanos / 1e9);
  const [unit, size] = UNITS.find(([, length]) => seconds >= length) ?? ['second', 1];
  const count = Math.ceil(seconds / size);
  return `in ${count} ${unit}${count === 1 ? '' : 's'}`;
}
