/** Which steps are kept, and how. Times are in milliseconds since 1970. */
export interface SamplingRule {
  readonly id: number;
  /** Name of the namespace. */
  readonly namespace: string;
  /** Key of the agent; null for all agents. */
  readonly agentName: string | null;
  /** Only steps that this control was asked about; null for all. */
  readonly controlId: number | null;
  /** More than 0, at most 1. */
  readonly share: number;
  readonly maskedPaths: readonly string[];
  readonly maskedPatterns: readonly string[];
  /** Of the JSON text of a step, after masking. */
  readonly maxBytes: number;
  readonly retentionHours: number;
  /** Null for one that does not end by itself. */
  readonly endsAtMs: number | null;
  readonly createdAtMs: number;
  readonly createdBy: string;
  /** Steps that it chose and that were not kept, when it was read. */
  readonly droppedSamples: number;
}

/** A sample as it is stored. Times are in milliseconds since 1970. */
export interface SampleRow extends SampleFacts {
  /** The step and what else its verdict depends on, masked; sealed. */
  readonly content: string;
}

/** What of a sample is shown without its step. */
export interface SampleFacts {
  readonly namespace: string;
  readonly decisionId: string;
  readonly ruleId: number;
  /** Key of the agent. */
  readonly agentName: string;
  readonly stage: string;
  readonly stepType: string;
  readonly stepName: string;
  readonly outcome: string;
  readonly takenAtMs: number;
  readonly expiresAtMs: number;
  readonly maskedValues: number;
}

export function isOver({ endsAtMs }: Pick<SamplingRule, 'endsAtMs'>, nowMs: number): boolean {
  return endsAtMs !== null && endsAtMs <= nowMs;
}

/** Whether a decision is among this share of all: the same decision is for every process and at every time. */
export function isInShare(decisionId: string, share: number): boolean {
  if (share >= 1) return true;
  // FNV-1a, whose result is mixed: ids may differ in their ends only.
  let hash = 0x811c9dc5;
  for (let at = 0; at < decisionId.length; at += 1) {
    hash = Math.imul(hash ^ decisionId.charCodeAt(at), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32 < share;
}
