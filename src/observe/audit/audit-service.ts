import type { Namespace } from '../../contract/call/namespace.js';
import { paginationOf } from '../../contract/call/page.js';
import type { ServiceError } from '../../contract/errors/service-error.js';
import { invalidRequest } from '../../contract/input/parse-input.js';
import type { AuditEntry } from '../../storage/database/audit-chain.js';
import { unavailable } from '../../storage/database/errors.js';
import { filterOf } from './audit-filter.js';
import type { AuditInputs } from './audit-schemas.js';
import type { AuditStore } from './audit-store.js';
import { verifyPart } from './verify-chain.js';

/** Concurrent exports. Each holds a few megabytes, however slowly it is read. */
const MAX_EXPORTS = 10;

export type AuditService = ReturnType<typeof createAuditService>;

/** Lists, exports and verifies the audit log. */
export function createAuditService(store: AuditStore, maxExports = MAX_EXPORTS) {
  let exports = 0;
  return {
    /** One page of entries, newest first. */
    async list(input: AuditInputs['listAuditEntries'], namespace: Namespace) {
      const { cursor, limit, ...filters } = input;
      const page = await store.page(filterOf(filters, namespace), cursor, limit);
      return {
        entries: page.rows.map(shownEntry),
        pagination: paginationOf(page, limit, ({ position }) => String(position)),
      };
    },

    /** All entries that match, oldest first. The next part is read once the previous one is sent. */
    async *export(input: AuditInputs['exportAuditEntries'], namespace: Namespace): AsyncGenerator<object> {
      if (exports >= maxExports) throw unavailable('Too many exports of the audit log are under way.');
      exports += 1;
      try {
        for await (const entries of store.walk(filterOf(input, namespace))) {
          for (const entry of entries) yield { entry: shownEntry(entry) };
        }
      } finally {
        exports -= 1;
      }
    },

    /**
     * Verifies the chain, which is one for all namespaces: an entry of another namespace that was changed breaks it as
     * well. How many entries and revisions others have is told to `default` only.
     */
    async verify({ after_position: after }: AuditInputs['verifyAudit'], namespace: Namespace) {
      const { head } = await store.chain();
      if (after !== undefined && after > head.position) throw beyondEnd(after, head.position);
      const part = await verifyPart(store, after, namespace.isDefault ? {} : { counted: namespace.name });
      return {
        intact: part.problem === null,
        verified: part.counted,
        problem: part.problem,
        anchor: part.anchor,
        head: part.head,
        next_after_position: part.hasMore ? part.last.position : null,
        unrecorded_revisions: namespace.isDefault ? part.unrecordedRevisions : 0,
      };
    },
  };
}

function beyondEnd(after: number, last: number): ServiceError {
  const message = `must be at most ${last}, the position of the last entry`;
  const item = {
    resource: 'Request',
    field: 'after_position',
    code: 'less_than_equal',
    message,
    value: after,
  } as const;
  return invalidRequest([item]);
}

/** An entry as contained in replies, with members in the order of the message. */
function shownEntry(entry: AuditEntry) {
  const { kind, name, keyFingerprint } = entry.actor;
  return {
    position: entry.position,
    revision: entry.revision,
    time: new Date(entry.timeMs).toISOString(),
    actor: { kind, name, key_fingerprint: keyFingerprint },
    address: entry.address,
    request_id: entry.requestId,
    action: entry.action,
    resource: entry.resource,
    resource_id: entry.resourceId,
    resource_name: entry.resourceName,
    before: entry.before,
    after: entry.after,
    previous_hash: entry.previousHash,
    hash: entry.hash,
  };
}
