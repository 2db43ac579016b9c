import type { Call } from '../call/call.js';
import type { Exchange } from './exchange.js';
import type { LaneEnvironment } from './lane-environment.js';

/** Ends an exchange whose reply Node.js refused, for reasons that are not known. Callers could not handle the error. */
export function giveUp(error: unknown, call: Call, exchange: Exchange, { log }: LaneEnvironment): void {
  const { requestId, route } = call;
  const facts = { err: error, requestId, rpc: route.path.slice(1), ...call.traceFacts() };
  log.error(facts, 'a reply failed');
  exchange.abort();
}
