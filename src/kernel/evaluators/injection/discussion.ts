/** Words of texts about attacks, folded. */
const DISCUSSES =
  /\b(?:prompt[- ]injections?|injection (?:attack|attempt|payload|technique)s?|(?:an|the|some) attacker|attackers|adversar\w{1,8}|researchers?|owasp|jailbreaks|jailbreaking|red[- ]team\w{0,4}|malicious \w{1,12}|payloads?|phrases? (?:like|such)|such as|for example|e\.g\.|example of|classifiers?|detectors?|blocklist|tripwire|test (?:case|suite|set)|regression test|angreifer|angriffe?|zum beispiel|attaquants?|par exemple|atacantes?|por ejemplo|por exemplo|attaccant[ei]|per esempio|vulnerabilit\w{1,4}|chat templates?|special tokens?|the tokens?)\b|атак|злоумышленник|например|攻击|攻擊|攻撃|例如|例えば|提示注入/;
/** Code units that are looked at for such words before and behind a match. */
const BEFORE = 220;
const BEHIND = 140;
/** Code units within which quotation marks around a match are looked for. */
const QUOTE_BEFORE = 70;
const QUOTE_BEHIND = 110;
const QUOTES = ['"', '`', '「', '『', "'"];
const CLOSING: Readonly<Record<string, string>> = { '「': '」', '『': '』' };

/** Share of its score that a match keeps in a text that quotes it and is about attacks; or one of these. */
const QUOTED_AND_DISCUSSED = 0.45;
const DISCUSSED = 0.75;
const QUOTED = 0.9;

/** The share of its score that a match keeps where it stands, by what is around it in the folded text. */
export function shareInContext(text: string, start: number, end: number): number {
  const around = `${text.slice(Math.max(0, start - BEFORE), start)} ${text.slice(end, end + BEHIND)}`;
  const isQuoted = quotedAt(text, start, end);
  if (DISCUSSES.test(around)) return isQuoted ? QUOTED_AND_DISCUSSED : DISCUSSED;
  return isQuoted ? QUOTED : 1;
}

/** Whether the nearest quotation mark before a match has its counterpart behind it. */
function quotedAt(text: string, start: number, end: number): boolean {
  const before = text.slice(Math.max(0, start - QUOTE_BEFORE), start);
  const behind = text.slice(end, end + QUOTE_BEHIND);
  return QUOTES.some((open) => {
    const at = before.lastIndexOf(open);
    if (at < 0 || !behind.includes(CLOSING[open] ?? open)) return false;
    // An apostrophe inside a word is none.
    return open !== "'" || at === 0 || /[\s(:]/.test(before[at - 1] ?? '');
  });
}
