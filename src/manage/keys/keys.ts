import type { KeyService as KeyServiceDesc } from '../../../gen/proto/enforcement/v1/key_service_pb.js';
import type { HandlersOf } from '../../contract/call/handler.js';
import { keyHandlers } from './key-handlers.js';
import { createKeySchemas } from './key-schemas.js';
import { createKeyService, type KeyServiceOptions } from './key-service.js';

/** The keys that are stored in the database. */
export function createKeys(options: KeyServiceOptions): HandlersOf<typeof KeyServiceDesc> {
  return keyHandlers(createKeyService(options), createKeySchemas(options.roles, options.now));
}
