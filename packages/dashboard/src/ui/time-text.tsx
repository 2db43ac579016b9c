const UNITS = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
] as const;
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
const exact = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' });

interface TimeTextProps {
  /** RFC 3339. */
  readonly time: string | undefined;
  readonly isExact?: boolean;
}

/** A time in the zone of the viewer, with the exact UTC time on hover. */
export function TimeText({ time, isExact = false }: TimeTextProps) {
  const date = new Date(time ?? '');
  if (Number.isNaN(date.getTime())) return <span className="muted">unknown</span>;
  return (
    <time dateTime={date.toISOString()} title={`${date.toISOString()} (UTC)`}>
      {isExact ? exact.format(date) : ago(date)}
    </time>
  );
}

function ago(date: Date): string {
  const seconds = Math.round((date.getTime() - Date.now()) / 1000);
  const [unit, size] = UNITS.find(([, length]) => Math.abs(seconds) >= length) ?? ['second', 1];
  return relative.format(Math.trunc(seconds / size), unit);
}
