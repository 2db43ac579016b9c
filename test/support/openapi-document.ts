import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import type { Json } from './wire-shape.js';

/** A document as far as tests look into it. */
export interface OpenApiDocument {
  readonly openapi: string;
  readonly servers: readonly { url: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Json>>;
    readonly responses: Readonly<Record<string, Response>>;
  };
}

interface Response {
  readonly $ref?: string;
  readonly content?: { readonly 'application/json': { readonly schema: Json } };
}

/** An operation as far as tests look into it. */
export interface Operation {
  readonly operationId: string;
  readonly 'x-rpc'?: string;
  readonly 'x-access': string;
  readonly security: readonly object[];
  readonly deprecated?: boolean;
  readonly parameters?: readonly { name: string; in: 'path' | 'query'; required: boolean }[];
  readonly requestBody?: object;
  readonly responses: Readonly<Record<string, Response>>;
}

/** An operation with its place. */
export interface PlacedOperation extends Operation {
  readonly method: string;
  readonly path: string;
}

/** Reads the document of a running service. */
export async function readOpenApi(baseUrl: string): Promise<OpenApiDocument> {
  return (await (await fetch(`${baseUrl}/openapi.json`)).json()) as OpenApiDocument;
}

/** Every operation of a document. */
export function operationsOf(document: OpenApiDocument): PlacedOperation[] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([verb, operation]) => ({ ...operation, path, method: verb.toUpperCase() })),
  );
}

/** A request as the document says it is made: members in path and query by its parameters, the others in the body. */
export function requestOf(operation: PlacedOperation, input: Readonly<Record<string, unknown>>) {
  const rest = { ...input };
  let path = operation.path;
  const query = new URLSearchParams();
  for (const { name, in: place } of operation.parameters ?? []) {
    const value = rest[name];
    delete rest[name];
    if (place === 'path') path = path.replace(`{${name}}`, encodeURIComponent(String(value)));
    else if (value !== undefined) for (const one of [value].flat()) query.append(name, String(one));
  }
  return {
    method: operation.method,
    path: query.size === 0 ? path : `${path}?${query}`,
    body: operation.requestBody === undefined ? undefined : rest,
  };
}

/**
 * Tells what is wrong with the JSON reply to an operation; empty when nothing is. Stricter than the document: members
 * that it does not declare are wrong.
 */
export function replyChecker(document: OpenApiDocument) {
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false });
  ajv.addSchema(closed(document as unknown as Json) as object, 'openapi.json');
  const compiled = new Map<string, ValidateFunction>();
  return (operation: PlacedOperation, status: number, body: unknown): string[] => {
    const declared = operation.responses[status] === undefined ? 'default' : String(status);
    const response = operation.responses[declared];
    const place = ['paths', operation.path, operation.method.toLowerCase(), 'responses', declared];
    // Of a stream, the schema is that of one line.
    const [mediaType = 'application/json'] = Object.keys(response?.content ?? {});
    const pointer = response?.$ref ?? `#/${place.map(escapePointer).join('/')}`;
    const validate =
      compiled.get(pointer) ??
      ajv.compile({ $ref: `openapi.json${pointer}/content/${escapePointer(mediaType)}/schema` });
    compiled.set(pointer, validate);
    if (validate(body)) return [];
    return (validate.errors ?? []).map(
      ({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`,
    );
  };
}

/** Tells what is wrong with the body of a request, by the document; empty when nothing is. */
export function bodyChecker(document: OpenApiDocument) {
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false });
  ajv.addSchema(document, 'openapi.json');
  return ({ path, method }: PlacedOperation, body: unknown): string[] => {
    const place = [
      'paths',
      path,
      method.toLowerCase(),
      'requestBody',
      'content',
      'application/json',
      'schema',
    ];
    const $ref = `openapi.json#/${place.map(escapePointer).join('/')}`;
    const validate = ajv.getSchema($ref) ?? ajv.compile({ $ref });
    if (validate(body)) return [];
    return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
  };
}

function escapePointer(part: string): string {
  return encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'));
}

/** Objects with declared members get no others. */
function closed(value: Json): Json {
  if (Array.isArray(value)) return value.map(closed);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, inner]): [string, Json] => [key, closed(inner)]);
  const isObject = value.type === 'object' && 'properties' in value && !('additionalProperties' in value);
  return { ...Object.fromEntries(entries), ...(isObject ? { additionalProperties: false } : {}) };
}
