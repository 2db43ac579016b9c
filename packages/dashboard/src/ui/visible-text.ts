/** Characters that show nothing, or change how others are shown: controls, directions of writing, joiners, half characters. */
const HIDDEN = /([\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}])\1*/gu;

/**
 * A text in which every hidden character is seen, as `⟨U+202E⟩`: what people decide about must not look like something
 * else. Line feeds and tabs stay.
 */
export function visibleText(text: string): string {
  return text.replace(HIDDEN, (run: string, one: string) => {
    if (one === '\n' || one === '\t') return run;
    const count = run.length / one.length;
    const code = (one.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
    return `⟨U+${code}${count > 1 ? ` ×${count}` : ''}⟩`;
  });
}
