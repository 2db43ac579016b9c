import type { AskedCounts } from './answering-approvals.js';

/** Bounds of approvals. */
export interface ApprovalLimits {
  /** Open approvals of an agent, of a namespace, and of all. */
  readonly maxPerAgent: number;
  readonly max: number;
  readonly maxTotal: number;
  /** How often an agent may ask the approvers of a control within a time; all agents together four times as often. */
  readonly fatigueLimit: number;
  readonly fatigueMs: number;
}

/** Agents that may ask the same approvers as often as one may. */
const AGENTS_AT_ONCE = 4;

/** Why an agent may not ask now; null if it may. */
export function refusalOf(
  { open, ofNamespace, ofAgent, asked, askedByAgent }: AskedCounts,
  agentName: string,
  limits: ApprovalLimits,
): string | null {
  if (ofAgent >= limits.maxPerAgent) {
    return `agent "${agentName}" has ${ofAgent} open approvals, which is the most: wait for their decisions, or cancel some`;
  }
  if (ofNamespace >= limits.max) {
    return `the namespace has ${ofNamespace} open approvals, which is the most (SERVICE_APPROVALS_MAX)`;
  }
  if (open >= limits.maxTotal) {
    return `the service has ${open} open approvals, which is the most (SERVICE_APPROVALS_MAX_TOTAL)`;
  }
  const seconds = limits.fatigueMs / 1000;
  const total = limits.fatigueLimit * AGENTS_AT_ONCE;
  if (asked >= total)
    return `the approvers were asked ${asked} times in ${seconds} seconds, which is the most`;
  // Each agent leaves something for the next one, however many ask.
  const share = Math.min(limits.fatigueLimit, Math.ceil((total - (asked - askedByAgent)) / 2));
  if (askedByAgent >= share) {
    return `the approvers were asked ${askedByAgent} times by agent "${agentName}" in ${seconds} seconds, which is its share`;
  }
  return null;
}
