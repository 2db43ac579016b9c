import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { type Schema, schemaArbitrary } from './schema-arbitrary.js';

interface Operation {
  readonly verb: string;
  readonly path: string;
  readonly parameters: readonly { name: string; in: string; required?: boolean; schema: Schema }[];
  readonly body: Schema | undefined;
  readonly responses: Record<string, { content?: Record<string, { schema?: Schema }> }>;
}

/** A generated request. */
export interface FuzzRequest {
  readonly operation: Operation;
  readonly path: string;
  readonly body: unknown;
}

type Document = {
  paths: Record<string, Record<string, unknown>>;
  components: { schemas: Record<string, Schema> };
};

/** What went wrong, with everything needed to do it again. */
export interface FuzzFailure {
  readonly problem: string;
  readonly request: string;
  readonly reply: string;
}

/** How many requests were answered with which status. */
export interface FuzzReport {
  readonly statuses: Record<string, number>;
  readonly operations: number;
  readonly failures: readonly FuzzFailure[];
}

/** Requests that run at the same time. */
const CONCURRENCY = 8;
/** Failures after which it is no use going on. */
const MAX_FAILURES = 10;

/**
 * Sends generated requests to every operation of the served document: no reply may be a 5xx or undocumented, and
 * every body has to be valid against the document.
 */
export async function fuzzOpenApi(url: string, requests: number, seed: number): Promise<FuzzReport> {
  const document = (await (await fetch(`${url}/openapi.json`)).json()) as Document;
  const operations = operationsOf(document);
  const resolve = resolver(document);
  const validators = createValidators(document);
  const perOperation = Math.ceil(requests / operations.length);
  const queue = operations.flatMap((operation, index) =>
    fc.sample(requestArbitrary(operation, resolve), { numRuns: perOperation, seed: seed + index }),
  );
  // The same requests in an order in which each finds what others left.
  const order =
    fc.sample(fc.shuffledSubarray(queue, { minLength: queue.length }), { numRuns: 1, seed })[0] ?? [];
  const statuses: Record<string, number> = {};
  const failures: FuzzFailure[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < order.length && failures.length < MAX_FAILURES) {
      const request = order[next++] as FuzzRequest;
      const { status, text } = await send(url, request);
      statuses[status] = (statuses[status] ?? 0) + 1;
      const problem = problemOf(request, status, text, validators);
      if (problem === undefined) continue;
      const shown = `${request.operation.verb} ${request.path} ${JSON.stringify(request.body)}`;
      failures.push({ problem, request: shown.slice(0, 2_000), reply: `${status} ${text}`.slice(0, 1_000) });
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
  return { statuses, operations: operations.length, failures };
}

function operationsOf(document: Document): Operation[] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([verb]) => ['get', 'put', 'post', 'patch', 'delete'].includes(verb))
      .map(([verb, operation]) => {
        const {
          parameters = [],
          requestBody,
          responses,
        } = operation as {
          parameters?: Operation['parameters'];
          requestBody?: { content: Record<string, { schema: Schema }> };
          responses: Operation['responses'];
        };
        const body = requestBody?.content['application/json']?.schema;
        return { verb: verb.toUpperCase(), path, parameters, body, responses };
      }),
  );
}

function resolver(document: Document): (reference: string) => Schema {
  return (reference) => {
    const name = reference.slice(reference.lastIndexOf('/') + 1);
    return document.components.schemas[name] ?? {};
  };
}

function requestArbitrary(
  operation: Operation,
  resolve: (reference: string) => Schema,
): fc.Arbitrary<FuzzRequest> {
  const text = (schema: Schema, name: string) =>
    schemaArbitrary(schema, resolve, name).map((value) =>
      (typeof value === 'string' ? value : JSON.stringify(value)).toWellFormed(),
    );
  const inPath = operation.parameters.filter((one) => one.in === 'path');
  const inQuery = operation.parameters.filter((one) => one.in === 'query');
  return fc
    .record({
      path: fc.record(Object.fromEntries(inPath.map((one) => [one.name, text(one.schema, one.name)]))),
      query: fc.record(Object.fromEntries(inQuery.map((one) => [one.name, text(one.schema, one.name)])), {
        requiredKeys: [],
      }),
      body: operation.body === undefined ? fc.constant(undefined) : schemaArbitrary(operation.body, resolve),
    })
    .map(({ path, query, body }) => {
      const filled = operation.path.replace(/\{(\w+)\}/g, (_all, name: string) => {
        const value = (path as Record<string, string>)[name] ?? '';
        // An empty part, or one of dots, would be another path.
        return /^\.{0,2}$/.test(value) ? 'x' : encodeURIComponent(value);
      });
      const parameters = new URLSearchParams(query as Record<string, string>).toString();
      return { operation, path: parameters === '' ? filled : `${filled}?${parameters}`, body };
    });
}

async function send(
  url: string,
  { operation, path, body }: FuzzRequest,
): Promise<{ status: number; text: string }> {
  const reply = await fetch(url + path, {
    method: operation.verb,
    redirect: 'manual',
    headers: { 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: reply.status, text: await reply.text() };
}

type Validators = (schema: Schema) => ValidateFunction;

function createValidators(document: Document): Validators {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema({ $id: 'document', ...document } as Schema);
  const known = new WeakMap<Schema, ValidateFunction>();
  return (schema) => {
    const existing = known.get(schema);
    if (existing !== undefined) return existing;
    const absolute = JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"document#/')) as Schema;
    const compiled = ajv.compile(absolute);
    known.set(schema, compiled);
    return compiled;
  };
}

function problemOf(
  request: FuzzRequest,
  status: number,
  text: string,
  validators: Validators,
): string | undefined {
  // Without keys, a service makes no tokens, and says so; whatever else is in the request.
  const isStated = status === 503 && text.includes('"error_code":"AUTH_MISCONFIGURED"');
  if (status >= 500 && !isStated) return 'a 5xx';
  const documented = request.operation.responses[String(status)] ?? request.operation.responses.default;
  if (documented === undefined) return `status ${status} is not documented`;
  const schema = documented.content?.['application/json']?.schema;
  if (schema === undefined) return undefined;
  const validate = validators(schema);
  if (validate(JSON.parse(text))) return undefined;
  return `the body is not valid: ${JSON.stringify(validate.errors?.slice(0, 3))}`;
}
