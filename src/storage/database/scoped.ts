import { Prisma } from '../../../gen/prisma/sqlite/client.js';
import type { CallContext } from '../../contract/call/handler.js';
import {
  type AgentKey,
  type Namespace,
  namespaceNamed,
  namespaceOfKey,
} from '../../contract/call/namespace.js';
import type { DbClient } from './client.js';

/** A client, and the namespace whose rows a store reads and writes with it. */
export interface Scoped {
  readonly client: DbClient;
  readonly namespace: Namespace;
}

/** What a call may read outside of mutations: the rows of the namespace of its caller. */
export function scopeOf({ principal }: Pick<CallContext, 'principal'>, client: DbClient): Scoped {
  return { client, namespace: principal.namespace };
}

/** The rows of the namespace of an agent, for the service itself. */
export function scopeOfKey(key: AgentKey, client: DbClient): Scoped {
  return { client, namespace: namespaceNamed(namespaceOfKey(key)) };
}

/** A condition that rows of a table with this alias, which must have the column, belong to the namespace. */
export function inNamespace(alias: string, { namespace }: Pick<Scoped, 'namespace'>): Prisma.Sql {
  return Prisma.sql`${Prisma.raw(`"${alias}"."namespace"`)} = ${namespace.name}`;
}

/** The plain name in a column of keys, all of which are of the namespace. */
export function plainName(
  column: Prisma.Sql,
  { namespace: { prefix } }: Pick<Scoped, 'namespace'>,
): Prisma.Sql {
  return prefix === '' ? column : Prisma.sql`substr(${column}, ${Prisma.raw(String(prefix.length + 1))})`;
}
