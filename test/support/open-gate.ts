import { type CallGate, createCallGate } from '../../src/host/limits/call-gate.js';

/** A gate that turns nobody away. */
export function openGate(): CallGate {
  return createCallGate({ maxCallsPerKey: 0, load: { isOverloaded: false }, onRefused: () => {} });
}
