import { afterAll, beforeAll, expect, it } from 'vitest';
import { type RestClient, restClient } from '../../support/http.js';
import { startService, type TestService } from '../../support/service.js';

interface Operation {
  readonly operationId: string;
  readonly requestBody?: { readonly content: Record<string, { readonly schema: Schema }> };
}
interface Schema {
  readonly $ref?: string;
  readonly examples?: readonly object[];
}
interface Document {
  readonly paths: Record<string, Record<string, Operation>>;
  readonly components: { readonly schemas: Record<string, Schema> };
}

let service: TestService;
let call: RestClient;
let document: Document;
beforeAll(async () => {
  service = await startService();
  call = restClient(service.url);
  document = (await call('GET', '/openapi.json')).body as Document;
});
afterAll(() => service.stop());

it('every operation with a body has an example, and the service accepts it', async () => {
  const operations = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).flatMap(([verb, { operationId, requestBody }]) => {
      const schema = requestBody?.content['application/json']?.schema;
      if (schema === undefined) return [];
      const name = schema.$ref?.split('/').at(-1) ?? '';
      return [{ path, verb, operationId, ...(document.components.schemas[name] ?? schema) }];
    }),
  );
  expect(operations.filter(({ examples }) => examples?.length !== 1)).toEqual([]);

  const first = ['initAgent', 'createControl', 'createPolicy'];
  const rank = ({ operationId }: { operationId: string }) => (first.indexOf(operationId) + 4) % 4;
  const refused: unknown[] = [];
  for (const { path, verb, examples = [] } of operations.sort((a, b) => rank(a) - rank(b))) {
    const target = path.replace('{agent_name}', 'billing-bot-01').replace(/\{(?:control|policy)_id\}/, '1');
    // Without keys there is nothing to log in to.
    if (target.endsWith('/login')) continue;
    const { status, body, headers } = await call(verb.toUpperCase(), target, examples[0]);
    if (status >= 300 || headers.has('x-service-warning')) refused.push({ target, status, body });
  }
  expect(refused).toEqual([]);
});
