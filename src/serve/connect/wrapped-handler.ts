import type {
  UniversalHandler,
  UniversalServerRequest,
  UniversalServerResponse,
} from '@connectrpc/connect/protocol';

/** A handler for the same RPC that serves its requests by `serve`. */
export function wrappedHandler(
  handler: UniversalHandler,
  serve: (request: UniversalServerRequest) => Promise<UniversalServerResponse>,
): UniversalHandler {
  const { protocolNames, allowedMethods, supportedContentType, requestPath, service, method } = handler;
  return Object.assign((request: UniversalServerRequest) => serve(request), {
    protocolNames,
    allowedMethods,
    supportedContentType,
    requestPath,
    service,
    method,
  });
}
