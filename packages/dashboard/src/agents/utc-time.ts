/** A time of an agent, which is in UTC without a zone suffix, as RFC 3339. */
export function utcTime(time: string | undefined): string | undefined {
  if (time === undefined) return undefined;
  return /(?:Z|[+-]\d\d:?\d\d)$/i.test(time) ? time : `${time}Z`;
}
