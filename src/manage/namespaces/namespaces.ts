import type { NamespaceService as NamespaceServiceDesc } from '../../../gen/proto/enforcement/v1/namespace_service_pb.js';
import type { HandlersOf } from '../../contract/call/handler.js';
import type { RepeatLog } from '../../contract/runtime/repeat-log.js';
import type { EvaluatorRegistry } from '../../kernel/core/evaluator.js';
import type { Database } from '../../storage/database/database.js';
import type { Mutator } from '../../storage/database/mutator.js';
import { createNamespaceExport } from './namespace-export.js';
import { namespaceHandlers } from './namespace-handlers.js';
import type { NamespaceRegistry } from './namespace-registry.js';
import { createNamespaceRemoval } from './namespace-removal.js';
import { createNamespaceService } from './namespace-service.js';

export interface NamespacesParts {
  readonly database: Database;
  readonly mutate: Mutator;
  readonly registry: EvaluatorRegistry;
  /** The namespaces that this process knows. */
  readonly known: NamespaceRegistry;
  readonly failures: Pick<RepeatLog, 'failed'>;
  /** Removes what controls with memory keep of a namespace. */
  readonly forgetMemory: (namespace: string) => Promise<void>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** The namespaces of the installation. */
export interface Namespaces {
  readonly handlers: HandlersOf<typeof NamespaceServiceDesc>;
  /** Removes what is left of deleted namespaces. Must be called regularly, by at least one process. */
  finishRemovals(): Promise<void>;
}

export function createNamespaces(parts: NamespacesParts): Namespaces {
  const { database, mutate, registry, known, failures, forgetMemory, now } = parts;
  const removal = createNamespaceRemoval({ database, forgetMemory, failures, now });
  const service = createNamespaceService({ database, mutate, registry: known, removal, failures, now });
  return {
    handlers: namespaceHandlers(service, createNamespaceExport({ database, registry, now })),
    finishRemovals: removal.finish,
  };
}
