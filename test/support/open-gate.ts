import { type ByteBudgets, createByteBudgets } from '../../src/host/limits/byte-budget.js';
import { type CallGate, createCallGate } from '../../src/host/limits/call-gate.js';

/** A gate that turns nobody away. */
export function openGate(): CallGate {
  return createCallGate({ maxCallsPerKey: 0, load: { isOverloaded: false }, onRefused: () => {} });
}

/** Budgets that no request of a test uses up. */
export function openBudgets(): ByteBudgets {
  return createByteBudgets({
    connectionBytes: Number.MAX_SAFE_INTEGER,
    totalBytes: Number.MAX_SAFE_INTEGER,
  });
}
