/** Letters, digits and the marks of sentences: no sign of SQL besides commas and semicolons, no string, no comment. */
const PLAIN = /^(?:[\p{L}\p{N}\s.,;!?:]|(?<=\p{L})['\u2019](?=\p{L})|(?<!-)-(?!-))+$/u;
/** Words that sentences have and statements have not, except as names. */
const SENTENCE_WORDS =
  /\b(?:the|an|your|my|our|their|this|that|these|those|please|you|we|they|it|its|than|was|were|are|be|been|has|have|should|would|could|cannot)\b/i;
/** Fewer may be a statement that a database has and its parser here has not. */
const MIN_WORDS = 6;
/** Longest inspected text, in UTF-16 code units; a longer one is none. */
const MAX_LENGTH = 5_000;

/**
 * Beginnings that no dialect has: a word that needs another one alone, as a member of JSON may be; a word with a colon or a
 * hyphen, which is no label; `table =`; `create a`; `import {`; and MERGE without USING.
 */
const NO_BEGINNING =
  /^\s*(?:(?:select|insert|update|delete|merge|create|drop|alter|grant|revoke|set|use|table|with|values|replace|call|copy|import|comment|load|fetch|release|prepare|rename)(?:\s*$|-\w|:\s+(?!begin|if|case|while|for|loop|repeat)[a-z]|\s*=)|(?:execute|explain|describe|show|start|begin|do|check|help):\s+(?!begin|if|case|while|for|loop|repeat)[a-z]|(?:create|alter)\s+(?:an?|the|your|my|our|this|that|new)\b|import\s+(?!table|foreign)|merge\b(?!.*\busing\b))/is;

/** The end of a sentence, with which no statement ends unless it is in a comment. */
const FULL_STOP = /\p{L}[.!]\s*$/u;
const COMMENT_OR_END = /--|\/\*|[#;]/;

/** Whether a text reads as a sentence that begins with a word of SQL: `Select a table by the window for two`. */
export function isProse(text: string): boolean {
  if (text.length > MAX_LENGTH) return false;
  if (NO_BEGINNING.test(text) || isStopped(text)) return true;
  const trimmed = text.trim();
  return trimmed.split(/\s+/).length >= MIN_WORDS && PLAIN.test(trimmed) && SENTENCE_WORDS.test(trimmed);
}

/** Whether a text ends as no statement of any dialect does, so that no database runs any of it. */
export function isStopped(text: string): boolean {
  return FULL_STOP.test(text) && !COMMENT_OR_END.test(text);
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

/** Whether a text begins like a query and has a sign that sentences do not have: a call, `*`, `=`, `@` or a string. */
export function isQueryLike(text: string): boolean {
  return (
    /^\W*(?:select|with)\b/i.test(text) && /\w\(|[*=@]|(?<!\p{L})'|'(?!\p{L})/u.test(text) && !isStopped(text)
  );
}
