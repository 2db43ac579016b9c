import { columns, json, nullable, number, type ReadRow, text } from '../../storage/database/rows.js';

export const RULE = columns({
  id: number,
  /** Name of the namespace. */
  namespace: text,
  /** Key of the agent; null for all agents. */
  agentName: nullable(text),
  /** Only steps that this control was asked about; null for all. */
  controlId: nullable(number),
  /** More than 0, at most 1. */
  share: number,
  maskedPaths: json<readonly string[]>(),
  maskedPatterns: json<readonly string[]>(),
  /** Of the JSON text of a step, after masking. */
  maxBytes: number,
  retentionHours: number,
  /** Null for one that does not end by itself. */
  endsAtMs: nullable(number),
  createdAtMs: number,
  createdBy: text,
  /** Steps that it chose and that were not kept, when it was read. */
  droppedSamples: number,
});

/** Which steps are kept, and how. Times are in milliseconds since 1970. */
export type SamplingRule = ReadRow<typeof RULE>;

const FACTS_OF_SAMPLE = {
  namespace: text,
  decisionId: text,
  ruleId: number,
  /** Key of the agent. */
  agentName: text,
  stage: text,
  stepType: text,
  stepName: text,
  outcome: text,
  takenAtMs: number,
  expiresAtMs: number,
  maskedValues: number,
};

export const FACTS = columns(FACTS_OF_SAMPLE);
export const SAMPLE = columns({
  ...FACTS_OF_SAMPLE,
  /** The step and what else its verdict depends on, masked; sealed. */
  content: text,
});

/** A sample as it is stored. Times are in milliseconds since 1970. */
export type SampleRow = ReadRow<typeof SAMPLE>;
/** What of a sample is shown without its step. */
export type SampleFacts = ReadRow<typeof FACTS>;

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
