const FORMS = 'a time such as 2026-01-31 10:42, 10:42 for today, or now';

/** What a typed time says: milliseconds since 1970, or why it is none. Blank: undefined. */
export type TypedTime = { readonly ms: number | undefined } | { readonly problem: string };

/** Reads a time in the zone of the viewer, with hours from 0 to 23, or in UTC with a Z at its end. */
export function readTypedTime(text: string, nowMs = Date.now()): TypedTime {
  const typed = text.trim();
  if (typed === '') return { ms: undefined };
  if (typed.toLowerCase() === 'now') return { ms: Math.floor(nowMs / 1000) * 1000 };
  const match =
    /^(?:(?<year>\d{4})-(?<month>\d{1,2})-(?<day>\d{1,2}))?(?:(?:^|[T\s]+)(?<hour>\d{1,2}):(?<minute>\d{2})(?::(?<second>\d{2})(?:\.\d{1,9})?)?)?\s*(?<utc>Z)?$/i.exec(
      typed,
    );
  if (match?.groups === undefined) return { problem: `“${typed}” is not ${FORMS}.` };
  const { year, month, day, hour = '0', minute = '0', second = '0', utc } = match.groups;
  const now = new Date(nowMs);
  const isUtc = utc !== undefined;
  const today = isUtc
    ? [now.getUTCFullYear(), now.getUTCMonth() + 1, now.getUTCDate()]
    : [now.getFullYear(), now.getMonth() + 1, now.getDate()];
  const date = year === undefined ? today : [year, month, day].map(Number);
  const [y = 0, m = 0, d = 0] = date;
  const clock = [hour, minute, second].map(Number);
  const [h = 0, min = 0, s = 0] = clock;
  const time = isUtc ? new Date(Date.UTC(y, m - 1, d, h, min, s)) : new Date(y, m - 1, d, h, min, s);
  const read = isUtc ? time.getUTCDate() : time.getDate();
  if (m < 1 || m > 12 || read !== d || h > 23 || min > 59 || s > 59) {
    return { problem: `“${typed}” is not ${FORMS}.` };
  }
  return { ms: time.getTime() };
}

/** A time as it is typed, in the zone of the viewer. */
export function typedTime(ms: number | undefined): string {
  if (ms === undefined) return '';
  const time = new Date(ms);
  const two = (value: number) => String(value).padStart(2, '0');
  const date = [time.getFullYear(), two(time.getMonth() + 1), two(time.getDate())].join('-');
  const clock = [time.getHours(), time.getMinutes(), time.getSeconds()].map(two).join(':');
  return `${date} ${clock}`;
}

/** The zone of the viewer, for example `Europe/Berlin`. */
export function zoneName(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone;
}
