import type { AuditService as AuditServiceDesc } from '../../../gen/proto/enforcement/v1/audit_service_pb.js';
import type { HandlersOf } from '../../contract/call/handler.js';
import type { Config } from '../../contract/config/config.js';
import type { Database } from '../../storage/database/database.js';
import { auditHandlers } from './audit-handlers.js';
import { createAuditService } from './audit-service.js';
import { createAuditStore } from './audit-store.js';
import { type AuditUpkeep, type AuditUpkeepOptions, createAuditUpkeep } from './audit-upkeep.js';

export interface AuditParts extends Pick<AuditUpkeepOptions, 'log' | 'failures' | 'now'> {
  readonly config: Config['audit'];
  readonly database: Database;
}

/** The audit log, as configured. */
export interface Audit {
  readonly handlers: HandlersOf<typeof AuditServiceDesc>;
  readonly upkeep: AuditUpkeep;
}

export function createAudit({ config, database, log, failures, now }: AuditParts): Audit {
  const store = createAuditStore(database.bulk);
  const { retentionDays } = config;
  return {
    handlers: auditHandlers(createAuditService(store)),
    upkeep: createAuditUpkeep({ database, store, retentionDays, log, failures, now }),
  };
}
