/** Letters, digits and the marks of sentences: no sign of SQL besides commas and semicolons. */
const PLAIN = /^[\p{L}\p{N}\s.,;!?:'\u2019\u2013\u2014/&%+-]+$/u;
/** Words that sentences have and statements have not, except as names. */
const SENTENCE_WORDS =
  /\b(?:the|a|an|your|my|our|their|his|her|this|that|these|those|please|you|we|they|me|us|them|it|its|what|how|who|than|was|were|are|been|should|would|could|can|will|must)\b/i;
const MIN_WORDS = 3;
/** Longest inspected text, in UTF-16 code units: the beginning tells a sentence. */
const LOOKED_AT = 2_000;

/** Whether a text reads as a sentence that begins with a word of SQL: `Select a table for two`. */
export function isProse(text: string): boolean {
  const beginning = text.slice(0, LOOKED_AT).trim();
  return (
    PLAIN.test(beginning) && beginning.split(/\s+/).length >= MIN_WORDS && SENTENCE_WORDS.test(beginning)
  );
}

/** Words of sentences that no statement has outside of its strings. */
const ENGLISH =
  /\b(?:the|an|your|my|our|this|that|these|those|please|you|we|me|statements?|commands?|clauses?)\b/i;

/** Whether what a parser takes for a statement reads as words of a sentence: `select one`, `execute the plan`. */
export function isSentence(candidate: string): boolean {
  const bare = candidate.replaceAll(/'[^']*'/g, "''");
  if (ENGLISH.test(bare)) return true;
  // A SELECT without FROM, call or sign is the start of a sentence.
  return /^\W*select\b/i.test(bare) && !/\bfrom\b|[(*=@]/i.test(bare);
}
