/** An error of JSON-RPC as the answer to a request over HTTP that cannot be passed on. */
export function failure(status: number, code: number, message: string): Response {
  return Response.json({ jsonrpc: '2.0', error: { code, message }, id: null }, { status });
}
