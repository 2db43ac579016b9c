const SKIP_TEXTS: Readonly<Record<string, string>> = {
  and_failed: 'An earlier condition of AND did not match.',
  or_matched: 'An earlier condition of OR matched.',
  error: 'An earlier condition could not be evaluated.',
  denied: 'Another control had already denied the step.',
};

/** Why a node was not evaluated, as a sentence. Reasons that are not known stay as they are. */
export function skipText(reason: string): string {
  return SKIP_TEXTS[reason] ?? reason;
}
