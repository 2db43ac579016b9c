import { folded, isObject, type JsonObject, type JsonValue } from '../../../exact-json/src/index.js';
import type { ForeignStep } from '../steps/adapter-evaluations.js';
import {
  type CheckedHeaders,
  checkedHeaders,
  lastingHeaders,
  refuseCharset,
} from '../steps/checked-headers.js';
import { memberAt } from '../steps/mapping.js';
import {
  isStepMethod,
  type McpStep,
  mayBeStepMethod,
  mcpStep,
  peerJson,
  refuseAlikeMethod,
  refused,
} from '../steps/mcp-step.js';
import { JSON_RPC_NAMES, ROUTE_NAMES, refuseFolded } from '../steps/protocol-names.js';

/** Data of Envoy's MCP filter, by its name; it read them from the body itself. */
const MCP_FILTER = 'envoy.filters.http.mcp';
/** Set by the proxy if it sends bodies: whether it sent only the beginning of this one. */
const PARTIAL = 'x-envoy-auth-partial-body';

/**
 * The request of HTTP that a proxy asks about, as a step: a request of MCP is the tool, the resource or the prompt that it names, any
 * other one an `http_request` with the name `METHOD host/path`. Throws a VALIDATION_ERROR if it cannot be checked as a whole, or is
 * read in several ways.
 */
export function httpStep(message: JsonObject): ForeignStep {
  const attributes = objectIn(message, 'attributes');
  const request = objectIn(attributes, 'request');
  const http = objectIn(request, 'http');
  const method = textIn(http, 'method');
  if (method === '')
    throw refused('attributes.request.http.method', 'is needed: only requests of HTTP are checked');
  const headers = checkedHeaders(headersOf(http));
  // Names of hosts are the same in any case.
  const host = textIn(http, 'host').toLowerCase();
  const [path = '', query] = splitPath(textIn(http, 'path'));
  const body = bodyOf(http, headers);
  const mcp = mcpOf(attributes, headers, body);
  const extensions = objectIn(attributes, 'context_extensions');
  refuseFolded(extensions, ROUTE_NAMES, 'attributes.context_extensions');
  const context = {
    source: textIn(objectIn(attributes, 'source'), 'principal'),
    destination: textIn(objectIn(attributes, 'destination'), 'principal'),
    route: extensions,
  };
  const step: McpStep | HttpStep = mcp ?? {
    type: 'http_request',
    name: `${method} ${host}${path}`,
    input: {
      method,
      scheme: textIn(http, 'scheme'),
      host,
      path,
      query: query ?? null,
      headers: lastingHeaders(headers),
      body: body ?? null,
    },
  };
  return {
    ...step,
    stage: 'pre',
    context: mcp === undefined ? context : { ...context, mcp: { upstream: host }, path },
    protocol: {
      // Never a header of the request: its sender could choose the controls that it is checked by.
      agent: textIn(extensions, 'agent') || undefined,
      session: textIn(extensions, 'session') || headers.get('x-session-id') || headers.get('mcp-session-id'),
      step_id: headers.get('x-step-id'),
      traceparent: headers.get('traceparent'),
    },
    message: {
      attributes: {
        ...attributes,
        request: { ...request, http: { ...http, headers: Object.fromEntries(headers), header_map: null } },
      },
    },
    // A proxy cannot change the body.
    accepts: ['steer', 'ask'],
  };
}

interface HttpStep {
  readonly type: 'http_request';
  readonly name: string;
  readonly input: JsonObject;
}

/** The path without its query, and the query. */
function splitPath(written: string): [path: string, query?: string] {
  const [whole = ''] = written.split('#', 1);
  const at = whole.indexOf('?');
  return at === -1 ? [whole] : [whole.slice(0, at), whole.slice(at + 1)];
}

function headersOf(http: JsonObject): [string, string][] {
  const { headers: raw } = objectIn(http, 'header_map');
  const listed = Array.isArray(raw) ? raw.filter((one) => isObject(one)) : [];
  return [
    ...Object.entries(objectIn(http, 'headers')).map(([name, value]): [string, string] => [
      name,
      String(value),
    ]),
    ...listed.map((one): [string, string] => [
      textIn(one, 'key'),
      textIn(one, 'raw_value') || textIn(one, 'value'),
    ]),
  ];
}

/** The body as JSON or text; undefined if there is none, or the proxy sends none. */
function bodyOf(http: JsonObject, headers: CheckedHeaders): JsonValue | undefined {
  const text = textIn(http, 'body') || textIn(http, 'raw_body');
  if (textIn(http, 'body') !== '' && textIn(http, 'raw_body') !== '')
    throw refused(
      'attributes.request.http.raw_body',
      'is there beside body: only one of them can be what the server gets',
    );
  // Of several values, the client may have sent all but one.
  const isPartial = headers
    .get(PARTIAL)
    ?.split(',')
    .map((one) => one.trim().toLowerCase() !== 'false');
  // Without bodies, the size of a body says nothing.
  const isSent = text !== '' || isPartial !== undefined;
  const size = Number(headers.get('content-length') ?? http.size ?? 0);
  // A size that is no number, such as "2,900", is that of none.
  if (isPartial?.includes(true) || (isSent && !(size <= Buffer.byteLength(text))))
    throw refused(BODY, INCOMPLETE);
  if (text === '') return undefined;
  const encoding = headers.get('content-encoding') ?? 'identity';
  if (encoding !== 'identity')
    throw refused(BODY, `is compressed (${encoding}), so it cannot be checked`, text);
  refuseCharset(headers.get('content-type'), 'headers.content-type');
  const isJson =
    (headers.get('content-type') ?? '').toLowerCase().includes('json') || /^[\s\ufeff]*[{[]/.test(text);
  return isJson ? peerJson(text, BODY) : text;
}

const BODY = 'attributes.request.http.body';
const INCOMPLETE =
  'is not complete, so it cannot be checked: let the proxy send bodies of this size as a whole (max_request_bytes), or refuse larger ones (allow_partial_message: false)';

/** The step of MCP that a request is; undefined for any other request. */
function mcpOf(
  attributes: JsonObject,
  headers: CheckedHeaders,
  body: JsonValue | undefined,
): McpStep | undefined {
  const stated = headers.get('mcp-method');
  if (body !== undefined) {
    if (Array.isArray(body) && body.some(mayBeStep))
      throw refused(BODY, 'must be one message of MCP: a list of them is not checked', body);
    const { method, params } = isObject(body) ? body : {};
    // Of other requests of HTTP, nothing is read but the whole.
    if (mayBeStep(body)) refuseFolded(body, JSON_RPC_NAMES, BODY);
    refuseAlikeMethod(method, `${BODY}.method`);
    if (stated !== undefined && stated !== method) throw refused('headers.mcp-method', DIFFERS, stated);
    if (!isStepMethod(method)) return undefined;
    const step = mcpStep(method, params);
    const name = headers.get('mcp-name');
    const named = step.type === 'mcp_resource' ? step.input.uri : step.name;
    if (name !== undefined && decoded(name) !== named) throw refused('headers.mcp-name', DIFFERS, name);
    return step;
  }
  const read = memberAt(attributes, ['metadata_context', 'filter_metadata', MCP_FILTER]);
  if (isObject(read) && isStepMethod(read.method)) return mcpStep(read.method, read.params);
  refuseAlikeMethod(stated, 'headers.mcp-method');
  if (!isStepMethod(stated)) return undefined;
  const name = decoded(headers.get('mcp-name') ?? '');
  return mcpStep(stated, { name, uri: name });
}

/** Whether servers may read one of the methods in a message. */
function mayBeStep(message: JsonValue): boolean {
  if (!isObject(message)) return false;
  return Object.entries(message).some(([name, value]) => folded(name) === 'method' && mayBeStepMethod(value));
}

const DIFFERS = 'is not what the body says, so a server could do something else than was checked';

/** The text of a header of MCP, which is in base64 if it is not ASCII. */
function decoded(value: string): string {
  const [, base64] = /^=\?base64\?(.*)\?=$/.exec(value) ?? [];
  return base64 === undefined ? value : Buffer.from(base64, 'base64').toString('utf8');
}

function objectIn(object: JsonObject, name: string): JsonObject {
  const value = Object.hasOwn(object, name) ? object[name] : undefined;
  return isObject(value) ? value : {};
}

function textIn(object: JsonObject, name: string): string {
  const value = Object.hasOwn(object, name) ? object[name] : undefined;
  return typeof value === 'string' ? value : '';
}
