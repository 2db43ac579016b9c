import type { Tool } from '@modelcontextprotocol/client';

/** What a header may have as it is; other values are sent in Base64. */
const PLAIN = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;
const ENCODED = /^=\?base64\?(.*)\?=$/;
/** Characters of names of headers (RFC 9110, 5.6.2). */
const TOKEN = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/;

/** Arguments of tools that are repeated in headers, with the names of these. */
const known = new WeakMap<Tool, readonly (readonly [argument: string, header: string])[]>();

/** The arguments that a tool expects in headers `Mcp-Param-*` (SEP-2243). */
function markedOf(tool: Tool): readonly (readonly [argument: string, header: string])[] {
  const found = known.get(tool);
  if (found !== undefined) return found;
  const marked = Object.entries(tool.inputSchema.properties ?? {}).flatMap(([name, schema]) => {
    const header = (schema as { readonly 'x-mcp-header'?: unknown } | null)?.['x-mcp-header'];
    // Others cannot be sent, so that the tool is called as one without them.
    return typeof header === 'string' && TOKEN.test(header)
      ? [[name, `mcp-param-${header.toLowerCase()}`] as const]
      : [];
  });
  known.set(tool, marked);
  return marked;
}

/** Those headers with the arguments of a call. */
function* marked(tool: Tool, given: unknown): Generator<[header: string, value: string | undefined]> {
  for (const [name, header] of markedOf(tool)) {
    const value =
      typeof given === 'object' && given !== null && Object.hasOwn(given, name)
        ? Reflect.get(given, name)
        : undefined;
    yield [header, value === undefined || value === null ? undefined : String(value)];
  }
}

/** The headers of a call of a tool; undefined if it wants none. */
export function paramHeaders(tool: Tool, given: unknown): Record<string, string> | undefined {
  const headers: Record<string, string> = {};
  let hasAny = false;
  for (const [header, value] of marked(tool, given)) {
    if (value === undefined) continue;
    hasAny = true;
    headers[header] =
      PLAIN.test(value) && !ENCODED.test(value)
        ? value
        : `=?base64?${Buffer.from(value).toString('base64')}?=`;
  }
  return hasAny ? headers : undefined;
}

/** The first header that differs from the arguments of a call; undefined if all are the same. */
export function differingHeader(tool: Tool, given: unknown, headers: Headers): string | undefined {
  for (const [header, value] of marked(tool, given)) {
    const sent = headers.get(header);
    const encoded = sent === null ? null : ENCODED.exec(sent)?.[1];
    const read = encoded == null ? sent : Buffer.from(encoded, 'base64').toString();
    if ((read ?? undefined) !== value) return header;
  }
  return undefined;
}
