import type { Namespace } from '../contract/call/namespace.js';
import type { DbClient } from './client.js';

/** A client, and the namespace whose rows a store reads and writes with it. */
export interface Scoped {
  readonly client: DbClient;
  readonly namespace: Namespace;
}
