import {
  type FoldedName,
  foldedName,
  type JsonValue,
  protocolNames as names,
} from '../../exact-json/src/index.js';

/** Messages of clients. Arguments of tools and prompts, and what is told in `_meta` by names with a prefix, have any names. */
const REQUEST = names('jsonrpc id method result', {
  error: names('code message data'),
  params: names(
    'name arguments uri cursor task requestState level protocolVersion requestId reason progressToken inputResponses',
    {
      _meta: names('progressToken traceparent tracestate'),
      clientInfo: names('name version title'),
      capabilities: names('experimental', {
        elicitation: names('form url'),
        sampling: names('context tools'),
        roots: names('listChanged'),
      }),
      ref: names('type name uri'),
      argument: names('name value'),
      context: names('arguments'),
    },
  ),
});

const CONTENT = names('type text data mimeType uri name blob title description annotations _meta', {
  resource: names('uri mimeType text blob _meta'),
});
const ITEM = names(
  'name title description uri uriTemplate mimeType _meta inputSchema outputSchema annotations arguments',
);

/** Results of servers. */
const RESULT = names(
  'structuredContent isError _meta nextCursor description resultType inputRequests requestState',
  {
    ...{ content: CONTENT, contents: CONTENT, messages: names('role', { content: CONTENT }) },
    ...{ tools: ITEM, prompts: ITEM, resources: ITEM, resourceTemplates: ITEM },
    completion: names('values total hasMore'),
  },
);

/** What some readers take for a name of the protocol, in a message of a client. */
export const foldedInRequest = (message: unknown): FoldedName | undefined =>
  foldedName(message as JsonValue, REQUEST);

/** The same in a result of a server. */
export const foldedInResult = (result: unknown): FoldedName | undefined =>
  foldedName(result as JsonValue, RESULT);
