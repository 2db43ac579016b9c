import {
  type FoldedName,
  foldedName,
  type JsonValue,
  type ProtocolNames,
} from '../../exact-json/src/index.js';

const FREE = null;
const META: ProtocolNames = { progressToken: FREE, traceparent: FREE, tracestate: FREE };
const CLIENT: ProtocolNames = { name: FREE, version: FREE, title: FREE };

/** Messages of clients. Arguments of tools and prompts, and what is told in `_meta` by names with a prefix, have any names. */
const REQUEST: ProtocolNames = {
  ...{
    jsonrpc: FREE,
    id: FREE,
    method: FREE,
    result: FREE,
    error: { code: FREE, message: FREE, data: FREE },
  },
  params: {
    ...{ name: FREE, arguments: FREE, uri: FREE, cursor: FREE, task: FREE, requestState: FREE, level: FREE },
    ...{ protocolVersion: FREE, requestId: FREE, reason: FREE, progressToken: FREE },
    _meta: META,
    inputResponses: FREE,
    clientInfo: CLIENT,
    capabilities: {
      ...{ elicitation: { form: FREE, url: FREE }, sampling: { context: FREE, tools: FREE } },
      ...{ roots: { listChanged: FREE }, experimental: FREE },
    },
    ref: { type: FREE, name: FREE, uri: FREE },
    argument: { name: FREE, value: FREE },
    context: { arguments: FREE },
  },
};

const CONTENT: ProtocolNames = {
  ...{ type: FREE, text: FREE, data: FREE, mimeType: FREE, uri: FREE, name: FREE, blob: FREE },
  ...{ title: FREE, description: FREE, annotations: FREE, _meta: FREE },
  resource: { uri: FREE, mimeType: FREE, text: FREE, blob: FREE, _meta: FREE },
};
const ITEM: ProtocolNames = {
  ...{
    name: FREE,
    title: FREE,
    description: FREE,
    uri: FREE,
    uriTemplate: FREE,
    mimeType: FREE,
    _meta: FREE,
  },
  ...{ inputSchema: FREE, outputSchema: FREE, annotations: FREE, arguments: FREE },
};

/** Results of servers. */
const RESULT: ProtocolNames = {
  ...{
    structuredContent: FREE,
    isError: FREE,
    _meta: FREE,
    nextCursor: FREE,
    description: FREE,
    resultType: FREE,
  },
  ...{ content: CONTENT, contents: CONTENT, messages: { role: FREE, content: CONTENT } },
  ...{ tools: ITEM, prompts: ITEM, resources: ITEM, resourceTemplates: ITEM },
  ...{ completion: { values: FREE, total: FREE, hasMore: FREE }, inputRequests: FREE, requestState: FREE },
};

/** What some readers take for a name of the protocol, in a message of a client. */
export const foldedInRequest = (message: unknown): FoldedName | undefined =>
  foldedName(message as JsonValue, REQUEST);

/** The same in a result of a server. */
export const foldedInResult = (result: unknown): FoldedName | undefined =>
  foldedName(result as JsonValue, RESULT);

/** What is wrong with such a member. */
export const inOtherCase = ({ path, written }: FoldedName): string =>
  `${path} is written ${JSON.stringify(written.slice(0, 100))}, with another case of its letters: readers differ in whether it counts`;
