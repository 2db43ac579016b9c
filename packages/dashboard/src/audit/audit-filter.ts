import type { MessageInitShape } from '@bufbuild/protobuf';
import type { ListAuditEntriesRequestSchema } from '@gen/enforcement/v1/audit_service_pb.js';
import { rangeMs } from '../ui/time-range.js';

type Request = MessageInitShape<typeof ListAuditEntriesRequestSchema>;
/** What entries are searched for, without the place in their list. */
export type AuditFilter = Omit<Request, '$typeName' | 'limit' | 'cursor'>;

/** Parameters of the address that are texts, with the member of the request and of the JSON route. */
const TEXTS = {
  actor: ['actor', 'actor'],
  action: ['action', 'action'],
  resource: ['resource', 'resource'],
  id: ['resourceId', 'resource_id'],
  request: ['requestId', 'request_id'],
} as const;
const REVISIONS = {
  min_revision: ['minRevision', 'min_revision'],
  max_revision: ['maxRevision', 'max_revision'],
} as const;
const MINUTE_MS = 60_000;

/** The request for the filters of an address. Filters that cannot be read are ignored. */
export function auditFilter(parameters: URLSearchParams, nowMs = Date.now()): AuditFilter {
  const filter: AuditFilter = {};
  for (const [name, [member]] of Object.entries(TEXTS)) {
    const text = textOf(parameters, name);
    if (text !== '') filter[member] = text;
  }
  for (const [name, [member]] of Object.entries(REVISIONS)) {
    const text = textOf(parameters, name);
    if (/^\d{1,15}$/.test(text)) filter[member] = BigInt(text);
  }
  const length = rangeMs(textOf(parameters, 'range')) ?? 0;
  // A time in whole minutes, so that the same request is made while a page is drawn again.
  const end = Math.floor(nowMs / MINUTE_MS) * MINUTE_MS;
  return length > 0 ? { ...filter, startTime: new Date(end - length).toISOString() } : filter;
}

/** The same as the body of the JSON route of ExportAuditEntries. */
export function exportBody(filter: AuditFilter): string {
  const body: Record<string, string> = {};
  for (const [member, name] of [...Object.values(TEXTS), ...Object.values(REVISIONS)]) {
    const value = filter[member];
    if (value !== undefined) body[name] = String(value);
  }
  return JSON.stringify(filter.startTime === undefined ? body : { ...body, start_time: filter.startTime });
}

function textOf(parameters: URLSearchParams, name: string): string {
  return parameters.get(name)?.trim() ?? '';
}
