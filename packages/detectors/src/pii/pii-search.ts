import type { TextFinding } from '../detector/finding.js';
import type { ContextReader } from './context-words.js';
import { loweredBy } from './neighbours.js';
import { foldUnits } from './text-units.js';

/** How much a word near a finding that indicates its kind raises the score, and the least score that it then has. */
export const CONTEXT = { raise: 0.4, least: 0.7 } as const;
/** How much a word right before it that names another kind of number lowers the score. */
export const AGAINST = 0.3;
/** Search steps of reading the words around a place, and of the checks of one candidate. */
const STEPS_PER_READ = 80;
/** Findings of one text after which nothing more is searched. No fewer than a check reports. */
const MAX_FINDINGS = 10_000;

/** Score from which on a finding is no telephone number as well, in whole or in part. */
const CLAIM = 0.65;

/** A kind that what lies at a place may be, with its score before the surroundings are looked at. */
export interface Candidate {
  readonly kind: string;
  readonly score: number;
}

/** What is fixed in a configuration. */
export interface SearchSettings {
  readonly context: ContextReader;
  readonly ignored: ReadonlySet<string>;
  readonly threshold: number;
}

/** The search of one text: its surroundings decide on the scores of what the finders found. */
export class PiiSearch {
  /** The text with the units of ASCII; positions are those of the text. */
  readonly text: string;
  /** Whether so much was found that nothing more is searched. */
  isFull = false;
  /** Where the last finding ends that is certain enough to be no telephone number. */
  claimedEnd = 0;
  readonly #given: string;
  readonly #settings: SearchSettings;
  readonly #found: (finding: TextFinding) => void;
  readonly #nameKinds: ReadonlySet<string>;
  #count = 0;
  #steps = 0;

  constructor(text: string, name: string, settings: SearchSettings, found: (finding: TextFinding) => void) {
    this.text = foldUnits(text);
    this.#given = text;
    this.#settings = settings;
    this.#found = found;
    this.#nameKinds = settings.context.ofName(name);
  }

  /** The work so far beyond that of one pass over the text, in search steps. */
  get steps(): number {
    return this.#steps;
  }

  spend(steps: number): void {
    this.#steps += steps;
  }

  /** Whether words around a place speak for a kind. */
  hasContext(kind: string, start: number, end: number): boolean {
    this.#steps += STEPS_PER_READ;
    return this.#settings.context.read(this.text, start, end, this.#nameKinds).kinds.has(kind);
  }

  /**
   * Reports what lies from `start` to `end`: where words speak for some of the candidates, those alone. Returns whether
   * anything reached the threshold.
   */
  add(start: number, end: number, candidates: readonly Candidate[], adjoins = true): boolean {
    const { context, ignored, threshold } = this.#settings;
    if (this.isFull || (ignored.size > 0 && ignored.has(this.#given.slice(start, end)))) return false;
    this.#steps += STEPS_PER_READ;
    const { kinds, isAgainst } = context.read(this.text, start, end, this.#nameKinds);
    const isSpokenFor = kinds.size > 0 && candidates.some(({ kind }) => kinds.has(kind));
    const lowered = adjoins ? loweredBy(this.text, start, end) : 0;
    let isFound = false;
    for (const { kind, score } of candidates) {
      if (isSpokenFor && !kinds.has(kind)) continue;
      const raised = isSpokenFor ? Math.min(1, Math.max(score + CONTEXT.raise, CONTEXT.least)) : score;
      const total = raised - lowered - (isAgainst && !isSpokenFor ? AGAINST : 0);
      if (total < threshold) continue;
      this.#found({ kind, start, end, score: Math.round(total * 100) / 100 });
      if (total >= CLAIM) this.claimedEnd = Math.max(this.claimedEnd, end);
      this.#count += 1;
      isFound = true;
    }
    if (this.#count >= MAX_FINDINGS) this.isFull = true;
    return isFound;
  }
}
