import type { MessageInitShape } from '@bufbuild/protobuf';
import type { ListAuditEntriesRequestSchema } from '@gen/enforcement/v1/audit_service_pb.js';
import { onlyValueOf, type QueryTerm } from '../ui/query-bar/query-member.js';
import { listRange, type Range } from '../ui/range/range.js';

type Request = MessageInitShape<typeof ListAuditEntriesRequestSchema>;
/** What entries are searched for, without the place in their list. */
export type AuditFilter = Omit<Request, '$typeName' | 'limit' | 'cursor'>;

/** Members that are texts, with the member of the request and of the JSON route. */
const TEXTS = {
  actor: ['actorContains', 'actor_contains'],
  action: ['actionContains', 'action_contains'],
  name: ['resourceContains', 'resource_contains'],
  resource: ['resource', 'resource'],
  id: ['resourceId', 'resource_id'],
  request: ['requestId', 'request_id'],
} as const;
const REVISIONS = {
  min_revision: ['minRevision', 'min_revision'],
  max_revision: ['maxRevision', 'max_revision'],
} as const;
const TIMES = { from: ['startTime', 'start_time'], to: ['endTime', 'end_time'] } as const;

/** The request for the terms of a query and a range. */
export function auditFilter(terms: readonly QueryTerm[], range: Range, nowMs = Date.now()): AuditFilter {
  const filter: AuditFilter = {};
  for (const [name, [member]] of Object.entries(TEXTS)) {
    const text = onlyValueOf(terms, name);
    if (text !== undefined) filter[member] = text;
  }
  for (const [name, [member]] of Object.entries(REVISIONS)) {
    const text = onlyValueOf(terms, name);
    if (text !== undefined) filter[member] = BigInt(text);
  }
  return { ...filter, ...listRange(range, nowMs) };
}

/** The same as the body of the JSON route of ExportAuditEntries. */
export function exportBody(filter: AuditFilter): string {
  const body: Record<string, string> = {};
  for (const [member, name] of [
    ...Object.values(TEXTS),
    ...Object.values(REVISIONS),
    ...Object.values(TIMES),
  ]) {
    const value = filter[member];
    if (value !== undefined) body[name] = String(value);
  }
  return JSON.stringify(body);
}
