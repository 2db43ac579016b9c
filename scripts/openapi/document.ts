import type { JsonObject } from '../../packages/exact-json/src/index.js';
import type { DescribedApi } from '../../src/app/wiring/server.js';
import { SESSION_COOKIE } from '../../src/serve/auth/session-cookie.js';
import { hostOperations } from './host-operations.js';
import { failureResponses } from './problem-schemas.js';
import { commentOf } from './proto-comments.js';
import { rpcOperation, tagOf } from './rpc-operations.js';
import { createSchemaPool } from './schema-pool.js';

const HOST_TAGS: Readonly<Record<string, string>> = {
  Session: 'Logs browsers in and out.',
  Operations: 'Tells how the service is.',
};

/** The OpenAPI 3.1 document of the service. Throws if two operations have the same id or path and method. */
export function openApiDocument(source: DescribedApi): JsonObject {
  const pool = createSchemaPool();
  const paths = new Map<string, JsonObject>();
  const ids = new Set<string>();
  const tags = new Map<string, string>();
  const add = (path: string, verb: string, operation: JsonObject): void => {
    const item = paths.get(path) ?? {};
    const id = String(operation.operationId);
    if (item[verb] !== undefined) throw new Error(`${verb} ${path} is served twice`);
    if (ids.has(id)) throw new Error(`two operations are called ${id}`);
    ids.add(id);
    paths.set(path, { ...item, [verb]: operation });
  };
  for (const route of source.routes) {
    const { desc } = route.method;
    tags.set(tagOf(desc), commentOf(desc.parent.typeName) ?? '');
    add(route.template, route.binding.verb.toLowerCase(), rpcOperation(route, pool));
  }
  for (const { path, verb, operation } of hostOperations(source.apiPrefix, pool)) {
    if (!source.methodsAt(path).includes(verb.toUpperCase())) continue;
    for (const tag of operation.tags as string[]) tags.set(tag, HOST_TAGS[tag] ?? '');
    add(path, verb, operation);
  }
  const responses = failureResponses(pool);
  return {
    openapi: '3.1.0',
    info: {
      title: 'Control Enforcement Service',
      version: source.version,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      description:
        'Stores controls for AI agents and evaluates every step against them. Each operation is also an RPC, named ' +
        'by `x-rpc`, over gRPC, gRPC-Web and Connect on the same port. Integers and booleans may also come as text.',
    },
    // Relative to the document, so that it works behind a prefix unknown to the service.
    servers: [{ url: '.' }],
    tags: [...tags].map(([name, description]) => ({ name, description })),
    paths: Object.fromEntries(paths),
    components: {
      schemas: pool.all(),
      responses,
      securitySchemes: {
        apiKey: {
          type: 'apiKey',
          in: 'header',
          name: 'X-API-Key',
          description: 'A regular or an admin key.',
        },
        bearer: { type: 'http', scheme: 'bearer', description: 'The same key, as a bearer token.' },
        session: {
          type: 'apiKey',
          in: 'cookie',
          name: SESSION_COOKIE,
          description: 'The session of a browser, see the login operation.',
        },
      },
    },
  };
}
