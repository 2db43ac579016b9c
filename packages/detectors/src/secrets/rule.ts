/** Something that a rule found in a text, before its score is known. Positions are in UTF-16 code units. */
export interface RawFinding {
  readonly kind: string;
  readonly start: number;
  /** Exclusive. */
  readonly end: number;
  /** Score that the rule has computed itself; that of the kind when absent. */
  readonly score?: number;
}

/** A rule that is run only where one of its anchors occurs. */
export interface SecretRule {
  /** As in the member `rules` of a configuration. Several rules may share one. */
  readonly id: string;
  /** Literals in lower case; every text that the rule finds contains one of them, in any case. */
  readonly anchors: readonly string[];
  /** Code units that what is found may begin before the first one of an anchor. */
  readonly before: number;
  /** Code units that it may end behind the first one of an anchor. Longer ones are found in part, or not. */
  readonly after: number;
  /** Whether the form of what begins with an anchor says what it is: then the word may begin before the anchor. */
  readonly mayBeGlued?: boolean;
  /** Finds in a part of a text, in time linear in its length. Positions are those of the part. */
  find(part: string, found: (finding: RawFinding) => void): void;
}

/** A kind of secret. */
export interface SecretKind {
  readonly name: string;
  /** Id of its rule. */
  readonly rule: string;
  /** Score of one that does not look like a placeholder. */
  readonly score: number;
  /** What it is, for the documentation. */
  readonly what: string;
}
