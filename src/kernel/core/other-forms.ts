/**
 * Forms of a text with its JSON escapes resolved: arguments of tools, results and messages are often JSON in a text, where
 * `\u0053` is an S; for detectors also without characters that show nothing. What is searched in a text is searched in these forms
 * as well.
 */
interface TextForm {
  readonly text: string;
  /** Where each code unit begins in the original text, and the end. */
  readonly at: readonly number[];
}

interface Span {
  readonly start: number;
  readonly end: number;
}

/** Takes the work of a search, in steps of some 13 ns. */
interface Meter {
  spend?(steps: number): void;
}

/** JSON in a text in JSON in a text. */
const MAX_LEVELS = 4;
/** RFC 8259, section 7. */
const ESCAPES = /\\(?:u([0-9a-fA-F]{4})|(["\\/])|([bfnrt]))/g;
/** Zero-width characters, marks of direction, and joiners. Beyond Latin-1, so that texts of Latin-1 are not even searched for them. */
const INVISIBLE = /[\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]/;
/** For evaluators that have no option to normalise texts. */
export const ESCAPES_AND_INVISIBLE = new RegExp(`${ESCAPES.source}|${INVISIBLE.source}+`, 'g');
const CONTROLS: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };
/** A text that begins as an object, a list or a string. */
const JSON_START = /^\s*(?:\{\s*["}]|\[\s*[[{"\]tfn\d-]|")/;
const UNITS_PER_STEP = 100;
const NONE: readonly string[] = [];

let known: { readonly text: string; readonly forms: readonly string[]; readonly pattern: RegExp } = {
  text: '',
  forms: NONE,
  pattern: ESCAPES,
};

/** The other forms of a text, none for most. `meter` as for a search. */
export function otherForms(text: string, meter?: Meter, pattern: RegExp = ESCAPES): readonly string[] {
  // Checks of the same text follow one another.
  if (known.text === text && known.pattern === pattern) return known.forms;
  const forms: string[] = [];
  const mayHave = (form: string): boolean =>
    form.includes('\\') || (pattern === ESCAPES_AND_INVISIBLE && INVISIBLE.test(form));
  for (let form = text; forms.length < MAX_LEVELS && mayHave(form); forms.push(form)) {
    meter?.spend?.(form.length / UNITS_PER_STEP);
    const next = resolved(form, pattern, forms.length === 0 && JSON_START.test(text));
    if (next === form) break;
    form = next;
  }
  known = { text, forms: forms.length === 0 ? NONE : forms, pattern };
  return known.forms;
}

/** Calls `found` with what a search finds in the other forms of a text, at its places in the text. */
export function searchOtherForms<Found extends Span>(
  text: string,
  search: (form: string, found: (one: Found) => void) => void,
  found: (one: Found) => void,
  pattern: RegExp = ESCAPES,
): void {
  let placed: readonly TextForm[] | null = null;
  for (const [level, form] of otherForms(text, undefined, pattern).entries()) {
    search(form, (one) => {
      // Hardly any text has something, and places take more memory than the text.
      placed ??= otherFormsPlaced(text, pattern);
      const at = placed[level]?.at ?? [];
      found({ ...one, start: at[one.start] ?? 0, end: at[one.end] ?? text.length });
    });
  }
}

/** The places that a search finds in a text and in its other forms, in the text. */
export function spansInForms(text: string, find: (form: string) => readonly Span[]): readonly Span[] {
  const spans = [...find(text)];
  const search = (form: string, found: (one: Span) => void) => find(form).forEach(found);
  searchOtherForms<Span>(text, search, (span) => spans.push(span));
  return spans;
}

/** The other forms with the places in the original text. */
export function otherFormsPlaced(text: string, pattern: RegExp = ESCAPES): readonly TextForm[] {
  const places = otherForms(text, undefined, pattern).map((form) => ({ text: form, at: [] as number[] }));
  let last: TextForm | null = null;
  for (const [level, { text: form, at }] of places.entries()) {
    const from: string = last?.text ?? text;
    const origin = (index: number): number => last?.at[index] ?? index;
    let begin = 0;
    const copyTo = (end: number): void => {
      for (; begin < end; begin += 1) at.push(origin(begin));
    };
    resolved(from, pattern, level === 0 && JSON_START.test(text), (start, end) => {
      copyTo(start);
      if (!INVISIBLE.test(from[start] ?? '')) at.push(origin(start));
      begin = end;
    });
    copyTo(from.length);
    at.push(text.length);
    last = { text: form, at };
  }
  return places;
}

/**
 * One level of escapes resolved. Those of control characters only where the text is JSON: `C:\temp` has none. `told` is called with
 * the place of each.
 */
function resolved(
  text: string,
  pattern: RegExp,
  isJson: boolean,
  told?: (start: number, end: number) => void,
): string {
  return text.replace(pattern, (whole, unit?: string, sign?: string, control?: string, start?: unknown) => {
    if (control !== undefined && !isJson) return whole;
    told?.(start as number, (start as number) + whole.length);
    if (unit !== undefined) return String.fromCharCode(Number.parseInt(unit, 16));
    return sign ?? CONTROLS[control ?? ''] ?? '';
  });
}
