import { readFile } from 'node:fs/promises';
import type { JsonObject, JsonValue } from '../../../packages/exact-json/src/index.js';
import { inPackage } from '../../contract/runtime/package-root.js';
import { rebased, restTemplate } from '../descriptors/rpc-methods.js';

/** The first part of the paths of sessions in the built document. */
const BUILT_PREFIX = '/api';

/** What of the API a service serves, and where. */
export interface ServedApi {
  /** First part of the path of the routes of sessions, for example `/api`. */
  readonly apiPrefix: string;
  /** First parts of the path of the JSON routes, for example `/api/v1`. */
  readonly apiBase: string;
  /** The methods that are served at a path. */
  methodsAt(path: string): readonly string[];
}

/** The OpenAPI document that the build made (`npm run generate:openapi`), with the operations and paths of this service. */
export async function servedDocument(api: ServedApi): Promise<JsonObject> {
  const built = JSON.parse(await readFile(inPackage('docs/openapi.json'), 'utf8')) as JsonObject;
  const paths = Object.entries(built.paths as JsonObject).flatMap(([path, item]): [string, JsonObject][] => {
    const at = servedPath(path, api);
    const methods = api.methodsAt(at);
    const operations = Object.entries(item as JsonObject).filter(([verb]) =>
      methods.includes(verb.toUpperCase()),
    );
    return operations.length === 0 ? [] : [[at, Object.fromEntries(operations)]];
  });
  const used = new Set(paths.flatMap(([, item]) => Object.values(item).flatMap(tagsOf)));
  const tags = (built.tags as JsonObject[]).filter(({ name }) => used.has(name as string));
  return { ...built, tags, paths: Object.fromEntries(paths) };
}

function tagsOf(operation: JsonValue): readonly string[] {
  return (operation as { tags: string[] }).tags;
}

function servedPath(path: string, { apiBase, apiPrefix }: ServedApi): string {
  const below = restTemplate({ template: path }, apiBase);
  return below === path ? rebased(path, BUILT_PREFIX, apiPrefix) : below;
}
