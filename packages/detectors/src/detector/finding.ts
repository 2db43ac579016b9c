import type { JsonObject } from '../../../exact-json/src/index.js';

/** Something that a detector found in a text. Positions are in UTF-16 code units; the text is no part of it. */
export interface TextFinding {
  /** What was found, for example `credit_card`. One of the kinds of the detector. */
  readonly kind: string;
  readonly start: number;
  /** Exclusive. */
  readonly end: number;
  /** How certain it is, 0 to 1. */
  readonly score: number;
}

/** The same, with the place of the text in the selected data. */
export interface Finding extends TextFinding {
  /** A JSON Pointer (RFC 6901) into the selected data; empty for the data themselves. */
  readonly path: string;
  /** Whether the text is the name of the member at the path. */
  readonly in_name: boolean;
}

/** Findings that the metadata of a result list. The rest is counted. */
export const MAX_LISTED_FINDINGS = 100;

/** The metadata of a result: the first findings in order of the data, and how many there are. */
export function findingsMetadata(findings: readonly Finding[], total: number, threshold: number): JsonObject {
  return {
    findings: findings.map(({ kind, path, in_name, start, end, score }) => ({
      kind,
      path,
      in_name,
      start,
      end,
      score,
    })),
    finding_count: total,
    threshold,
  };
}
