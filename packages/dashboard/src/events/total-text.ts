import { type QueryEventsResponse, TotalKind } from '@gen/enforcement/v1/observability_service_pb.js';

/** The number of events that a reply has, and whether it is an estimate. */
export type EventTotal = Pick<QueryEventsResponse, 'eventTotal' | 'totalKind'>;

const ROUGH = new Intl.NumberFormat('en', {
  notation: 'compact',
  compactDisplay: 'long',
  maximumSignificantDigits: 2,
});

/** A total as text, for example `9,731` or `about 1.2 million`. */
export function totalText({ eventTotal, totalKind }: EventTotal): string {
  return totalKind === TotalKind.ESTIMATE ? `about ${ROUGH.format(eventTotal)}` : eventTotal.toLocaleString();
}
