const UNITS = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
] as const;
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
const narrow = new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'narrow' });
const exact = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' });
const clock = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' });
const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' });
const dayOfYear = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium' });

interface TimeTextProps {
  /** RFC 3339. */
  readonly time: string | undefined;
  readonly isExact?: boolean;
  /** Whether it is as short as possible, for columns, as in `5h ago`. */
  readonly isShort?: boolean;
}

/** A time in the zone of the viewer, with the exact UTC time on hover. */
export function TimeText({ time, isExact = false, isShort = false }: TimeTextProps) {
  const date = new Date(time ?? '');
  if (Number.isNaN(date.getTime())) return <span className="muted">unknown</span>;
  return (
    <time dateTime={date.toISOString()} title={`${date.toISOString()} (UTC)`}>
      {isExact ? exact.format(date) : ago(date, isShort ? narrow : relative)}
    </time>
  );
}

/** The clock of a time with hours from 0 to 23, after the day if it is not today; how long ago it was on hover. */
export function ClockText({ time }: Pick<TimeTextProps, 'time'>) {
  const date = new Date(time ?? '');
  if (Number.isNaN(date.getTime())) return <span className="muted">unknown</span>;
  return (
    <time className="clock" dateTime={date.toISOString()} title={`${ago(date)}, ${date.toISOString()} (UTC)`}>
      {clockText(date)}
    </time>
  );
}

function clockText(date: Date, now = new Date()): string {
  const isToday = date.toDateString() === now.toDateString();
  if (isToday) return clock.format(date);
  return `${(date.getFullYear() === now.getFullYear() ? day : dayOfYear).format(date)} ${clock.format(date)}`;
}

function ago(date: Date, format = relative): string {
  const seconds = Math.round((date.getTime() - Date.now()) / 1000);
  const [unit, size] = UNITS.find(([, length]) => Math.abs(seconds) >= length) ?? ['second', 1];
  return format.format(Math.trunc(seconds / size), unit);
}
