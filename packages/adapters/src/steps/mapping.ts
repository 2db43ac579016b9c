import { isObject, type JsonObject, type JsonValue } from '../../../exact-json/src/index.js';

/** What an evaluation takes from where a mapping says. */
export const MAPPED = [
  'agent',
  'session',
  'step_id',
  'step',
  'traceparent',
  'target_type',
  'target_id',
] as const;
export type Mapped = (typeof MAPPED)[number];

/** Where a value is taken from. */
export type Source =
  /** A header, or an entry of the metadata. In lower case. */
  | { readonly kind: 'header'; readonly name: string }
  /** A query parameter. */
  | { readonly kind: 'query'; readonly name: string }
  /** A member of the message, by the names on its path. */
  | { readonly kind: 'member'; readonly path: readonly string[] }
  /** A fixed text. */
  | { readonly kind: 'text'; readonly text: string }
  /** What the protocol of the adapter itself has for it; the page of the adapter says what that is. */
  | { readonly kind: 'protocol' }
  /** The agent that the key of the caller is limited to, if it is exactly one. */
  | { readonly kind: 'key' };

/** The sources of each value, in the order in which they are tried. */
export type Mapping = { readonly [Name in Mapped]: readonly Source[] };

/** What values are taken from. */
export interface MappedRequest {
  header(name: string): string | undefined;
  readonly query: Readonly<Record<string, string | undefined>>;
  readonly message: JsonObject;
  /** By the protocol itself. */
  readonly protocol: { readonly [Name in Mapped]?: string | undefined };
  /** Of the caller; undefined unless its key is limited to exactly one. */
  readonly agentOfKey: string | undefined;
}

/** Headers with credentials are never copied into steps. */
const SECRET_HEADERS = new Set(['authorization', 'proxy-authorization', 'cookie', 'x-api-key']);
const HEADER_NAME = /^[a-z0-9!#$%&'*+.^_`|~-]{1,100}$/;
const PARTS_OF_PATH = 16;

/** Where values are taken from unless the file of the adapters says otherwise. */
export const DEFAULT_MAPPING: Mapping = {
  agent: [header('x-agent-name'), { kind: 'query', name: 'agent' }, { kind: 'protocol' }, { kind: 'key' }],
  session: [header('x-session-id'), { kind: 'protocol' }],
  step_id: [header('x-step-id'), { kind: 'protocol' }],
  step: [{ kind: 'protocol' }],
  traceparent: [header('traceparent'), { kind: 'protocol' }],
  target_type: [header('x-target-type')],
  target_id: [header('x-target-id')],
};

function header(name: string): Source {
  return { kind: 'header', name };
}

/** Reads a source as it is written in the file; a text says what is wrong with it. */
export function readSource(written: string): Source | string {
  const [kind = '', ...rest] = written.trim().split(/\s+/);
  const value = rest.join(' ');
  if (kind === 'protocol' || kind === 'key') {
    return value === '' ? { kind } : `"${kind}" stands alone`;
  }
  if (value === '') return SOURCE_RULE;
  switch (kind) {
    case 'header': {
      const name = value.toLowerCase();
      if (SECRET_HEADERS.has(name)) return `the header ${name} has credentials, which no step may contain`;
      return HEADER_NAME.test(name) ? { kind, name } : 'after "header" stands the name of a header';
    }
    case 'query':
      return value === 'agent' ? { kind, name: value } : 'the only query parameter of adapters is "agent"';
    case 'member': {
      const path = value.split('.');
      const isPath = path.length <= PARTS_OF_PATH && path.every((part) => part !== '');
      return isPath
        ? { kind, path }
        : 'after "member" stand names, separated by points: member context.agent';
    }
    case 'text':
      return { kind, text: value };
    default:
      return SOURCE_RULE;
  }
}

const SOURCE_RULE =
  'must be "header NAME", "query agent", "member PATH", "text VALUE", "protocol" or "key", such as "header x-agent-name"';

/** The value of the first source that has one; undefined without any. A member that is no text counts as none. */
export function mapped(sources: readonly Source[], request: MappedRequest, name: Mapped): string | undefined {
  for (const source of sources) {
    const value = valueFrom(source, request, name);
    if (value !== undefined && value !== '') return value;
  }
  return undefined;
}

function valueFrom(source: Source, request: MappedRequest, name: Mapped): string | undefined {
  switch (source.kind) {
    case 'header':
      return request.header(source.name);
    case 'query':
      return request.query[source.name];
    case 'member': {
      const value = memberAt(request.message, source.path);
      return typeof value === 'string' ? value : undefined;
    }
    case 'text':
      return source.text;
    case 'protocol':
      return request.protocol[name];
    case 'key':
      return name === 'agent' ? request.agentOfKey : undefined;
  }
}

/**
 * The value at a path of members; undefined if there is none. Names of members may contain points, such as those of filters in
 * metadata: of several that fit, the shortest counts.
 */
export function memberAt(value: JsonValue | undefined, path: readonly string[]): JsonValue | undefined {
  if (path.length === 0) return value;
  if (!isObject(value)) return undefined;
  for (let parts = 1; parts <= path.length; parts += 1) {
    const name = path.slice(0, parts).join('.');
    if (Object.hasOwn(value, name)) return memberAt(value[name], path.slice(parts));
  }
  return undefined;
}

/** A source as it is written, for messages. */
export function sourceText(source: Source): string {
  switch (source.kind) {
    case 'header':
      return `the header ${source.name}`;
    case 'query':
      return `the query parameter ${source.name}`;
    case 'member':
      return `the member ${source.path.join('.')}`;
    case 'text':
      return `the text ${source.text}`;
    case 'protocol':
      return 'what the protocol has for it';
    case 'key':
      return 'a key that is limited to one agent';
  }
}
