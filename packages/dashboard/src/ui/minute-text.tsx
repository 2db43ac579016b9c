import { TimeText } from './time-text.js';

const MINUTE_MS = 60_000;

interface MinuteTextProps {
  /** The beginning of the minute, RFC 3339. */
  readonly time: string;
  readonly isShort?: boolean;
}

/** A time that is known to the minute: within it, its beginning says nothing of the seconds. */
export function MinuteText({ time, isShort = false }: MinuteTextProps) {
  const date = new Date(time);
  if (!(Date.now() - date.getTime() < MINUTE_MS)) return <TimeText time={time} isShort={isShort} />;
  return (
    <time dateTime={date.toISOString()} title={`${date.toISOString()} (UTC)`}>
      {isShort ? 'this minute' : 'in this minute'}
    </time>
  );
}
