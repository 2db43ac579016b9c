/** Counts and times the calls of each protocol. Every started call is ended exactly once. */
export interface CallMeter {
  /** `path` is the template of the route. */
  restStarted(method: string, path: string): void;
  restEnded(method: string, path: string, status: number, seconds: number): void;
  /** `rpc` is `package.Service/Method`. */
  rpcStarted(rpc: string, protocol: string): void;
  /** `code` is the gRPC status name in lower case, or `ok`. */
  rpcEnded(rpc: string, protocol: string, code: string, seconds: number): void;
}
