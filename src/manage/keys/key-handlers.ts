import type { KeyService as KeyServiceDesc } from '../../../gen/proto/enforcement/v1/key_service_pb.js';
import { type HandlersOf, handler } from '../../contract/call/handler.js';
import type { createKeySchemas } from './key-schemas.js';
import type { KeyService } from './key-service.js';

/** The RPCs of KeyService. */
export function keyHandlers(
  keys: KeyService,
  schemas: ReturnType<typeof createKeySchemas>,
): HandlersOf<typeof KeyServiceDesc> {
  return {
    createKey: handler(schemas.createKey, (input, context) => keys.create(context, input)),
    listKeys: handler(schemas.listKeys, (input, context) => keys.list(context, input)),
    getKey: handler(schemas.getKey, (input, context) => keys.get(context, input.key_id)),
    rotateKey: handler(schemas.rotateKey, (input, context) => keys.rotate(context, input)),
    revokeKey: handler(schemas.revokeKey, (input, context) => keys.revoke(context, input.key_id)),
    listRoles: handler(schemas.listRoles, () => keys.roles()),
  };
}
