/** What rules look for, by the names of configurations, which are the kinds of findings. */
export const INJECTION_CATEGORIES = {
  override: 'instructions to ignore, forget or replace the instructions of the system',
  jailbreak: 'roles and modes without restrictions',
  role_marker: 'tokens of chat templates and headings that pass for messages of the system',
  prompt_leak: 'requests for the system prompt',
  exfiltration: 'requests to send secrets or the conversation elsewhere; images whose address carries data',
  tool_coercion: 'orders to call tools without asking or telling the user',
  hidden_text:
    'text that people do not see: tag characters, zero-width characters, overrides of direction, invisible HTML',
  encoded: 'base64 that decodes to one of the above',
} as const;

export type InjectionCategory = keyof typeof INJECTION_CATEGORIES;

export const CATEGORY_NAMES = Object.keys(INJECTION_CATEGORIES) as readonly InjectionCategory[];

/** A sequence of words with little between them. */
export interface PhraseRule {
  /** Unique; rules that say the same in several ways share one `id`, so that they count once in a sum of scores. */
  readonly id: string;
  readonly category: InjectionCategory;
  /** Score of one match by itself, 0 to 1. */
  readonly score: number;
  /**
   * For each word the literals that stand for it. One that begins, or ends, with a letter or digit of a script with
   * spaces does so at a word boundary, except that `*` at its end stands for the rest of a word.
   */
  readonly slots: readonly (readonly string[])[];
  /** Most code units between two words. */
  readonly gap: number;
}

/** Code units between two words where a rule does not say. */
const DEFAULT_GAP = 28;

/** A rule as it is written: words are separated by ` > `, literals by `|`. */
type PhraseRow = readonly [id: string, score: number, words: string, gap?: number];

/** Reads the rules of a category. */
export function phraseRules(category: InjectionCategory, rows: readonly PhraseRow[]): PhraseRule[] {
  return rows.map(([id, score, words, gap = DEFAULT_GAP]) => ({
    id,
    category,
    score,
    slots: words.split(' > ').map((slot) => slot.split('|')),
    gap,
  }));
}

/** Rules of one literal each, which may contain any character. */
export function literalRules(
  category: InjectionCategory,
  rows: readonly (readonly [id: string, score: number, ...literals: string[]])[],
): PhraseRule[] {
  return rows.map(([id, score, ...literals]) => ({ id, category, score, slots: [literals], gap: 0 }));
}
