import type { AuditService as AuditServiceDesc } from '../../../gen/proto/enforcement/v1/audit_service_pb.js';
import { type HandlersOf, handler, streamHandler } from '../../contract/call/handler.js';
import { refuseUnknownFilters } from '../events/store/event-filter.js';
import { auditSchemas as schemas } from './audit-schemas.js';
import type { AuditService } from './audit-service.js';

/** The RPCs of AuditService. */
export function auditHandlers(service: AuditService): HandlersOf<typeof AuditServiceDesc> {
  return {
    listAuditEntries: handler(schemas.listAuditEntries, (input, context) => {
      refuseUnknownFilters(context.ignoredParts());
      return service.list(input, context.principal.namespace);
    }),
    exportAuditEntries: streamHandler(schemas.exportAuditEntries, (input, context) => {
      refuseUnknownFilters(context.ignoredParts());
      return service.export(input, context.principal.namespace);
    }),
    verifyAudit: handler(schemas.verifyAudit, (input, { principal }) =>
      service.verify(input, principal.namespace),
    ),
  };
}
