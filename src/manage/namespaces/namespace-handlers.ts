import type { NamespaceService as NamespaceServiceDesc } from '../../../gen/proto/enforcement/v1/namespace_service_pb.js';
import { type HandlersOf, handler, streamHandler } from '../../contract/call/handler.js';
import type { NamespaceExport } from './namespace-export.js';
import { namespaceSchemas as schemas } from './namespace-schemas.js';
import type { NamespaceService } from './namespace-service.js';

/** The RPCs of NamespaceService. */
export function namespaceHandlers(
  service: NamespaceService,
  exported: NamespaceExport,
): HandlersOf<typeof NamespaceServiceDesc> {
  return {
    createNamespace: handler(schemas.createNamespace, ({ name, display_name: displayName }, context) =>
      service.create(context, name, displayName),
    ),
    listNamespaces: handler(schemas.listNamespaces, service.list),
    getNamespace: handler(schemas.getNamespace, ({ namespace }) => service.get(namespace)),
    updateNamespace: handler(schemas.updateNamespace, (input, context) =>
      service.update(context, input.namespace, input.display_name),
    ),
    exportNamespace: streamHandler(schemas.exportNamespace, ({ namespace }) => exported.records(namespace)),
    deleteNamespace: handler(schemas.deleteNamespace, ({ namespace, force }, context) =>
      service.remove(context, namespace, force),
    ),
  };
}
