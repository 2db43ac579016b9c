/** Units before and after a finding in which words count. */
const BEFORE = 64;
const AFTER = 24;
/** Units before a finding in which words against it count. */
const AGAINST = 24;
/** Units between two words of a phrase. */
const MAX_GAP = 3;
/** Bits of the table of first words: a power of two, several times their number. */
const TABLE_SIZE = 8192;

/** Words that tell of another kind of number. */
const AGAINST_WORDS = (
  'order invoice tracking ref reference sku version build release isbn ean upc serial commit hash ticket issue case ' +
  'timestamp epoch port pid row offset size bytes checksum sha md5 uuid guid part model batch lot parcel shipment ' +
  'bestellung bestellnummer rechnung rechnungsnummer sendung sendungsnummer artikelnummer commande facture suivi ' +
  'pedido factura ordine fattura bestelling factuur revision rev v firmware driver chrome firefox safari applewebkit ' +
  'transaction confirmation coupon voucher barcode'
).split(' ');

/** The words around a place of a text, as far as they tell of kinds. */
export interface Surroundings {
  /** Kinds that words near the place speak for. */
  readonly kinds: ReadonlySet<string>;
  /** Whether a word right before the place names another kind of number. */
  readonly isAgainst: boolean;
}

const NOTHING: Surroundings = { kinds: new Set(), isAgainst: false };

/** Reads the words around places of texts. */
export interface ContextReader {
  /** `place` has the kinds that the name of the member indicates in which the text is. */
  read(text: string, start: number, end: number, place: ReadonlySet<string>): Surroundings;
  /** Kinds that the words of a name speak for: `dateOfBirth`, `date_of_birth`, `/customer/ssn/0`. */
  ofName(name: string): ReadonlySet<string>;
}

/** A phrase that begins with a word. */
interface Phrase {
  /** The words after the first one. */
  readonly rest: readonly string[];
  /** The kind that it indicates; null for one that names another kind of number. */
  readonly kind: string | null;
}

/** Reads words and phrases, in any case, that speak for kinds. Reading around a place takes some 200 ns. */
export function createContextReader(
  kinds: readonly { readonly name: string; readonly context: readonly string[] }[],
): ContextReader {
  const phrases = new Map<string, Phrase[]>();
  /** Which words may be the first of a phrase, by `hashOf`: most others need not be cut out of the text. */
  const table = new Uint8Array(TABLE_SIZE);
  /** In scripts without spaces between words, they are looked for anywhere. */
  const inside: [string, string][] = [];

  const add = (words: readonly string[], kind: string | null): void => {
    const [first = '', ...rest] = words;
    phrases.set(first, [...(phrases.get(first) ?? []), { rest, kind }]);
    table[hashOf(first, 0, first.length)] = 1;
  };
  for (const word of AGAINST_WORDS) add([word], null);
  for (const { name, context } of kinds) {
    for (const phrase of context) {
      if (isUnspaced(phrase.charCodeAt(0))) inside.push([phrase, name]);
      else add(wordsOf(phrase), name);
    }
  }

  /** Collects the kinds in a window; returns whether a word from `against` on names another kind of number. */
  const collect = (text: string, from: number, to: number, against: number, found: KindSet): boolean => {
    let isAgainst = false;
    let hasUnspaced = false;
    for (let at = from; at < to; ) {
      if (!isWordUnit(text.charCodeAt(at))) {
        at += 1;
        continue;
      }
      const start = at;
      while (at < to && isWordUnit(text.charCodeAt(at))) {
        if (isUnspaced(text.charCodeAt(at))) hasUnspaced = true;
        at += 1;
      }
      if (table[hashOf(text, start, at)] === 0) continue;
      for (const { rest, kind } of phrases.get(text.slice(start, at).toLowerCase()) ?? []) {
        if (kind === null) isAgainst ||= start >= against;
        else if (rest.length === 0 || follows(text, at, to, rest)) found.add(kind);
      }
    }
    if (hasUnspaced) {
      const window = text.slice(from, to);
      for (const [word, name] of inside) if (window.includes(word)) found.add(name);
    }
    return isAgainst;
  };

  return {
    read(text, start, end, place) {
      const found = new KindSet(place);
      const isAgainst = collect(text, wordStart(text, start), start, start - AGAINST, found);
      const to = Math.min(text.length, end + AFTER);
      collect(text, end, to, to, found);
      return found.kinds.size === 0 && !isAgainst ? NOTHING : { kinds: found.kinds, isAgainst };
    },
    ofName(name) {
      const found = new KindSet(NOTHING.kinds);
      const spaced = name.replaceAll(/(?<=[a-z])(?=[A-Z])/g, ' ').slice(-BEFORE);
      collect(spaced, 0, spaced.length, spaced.length, found);
      return found.kinds;
    },
  };
}

/** A set that is copied when something is added. */
class KindSet {
  kinds: ReadonlySet<string>;

  constructor(kinds: ReadonlySet<string>) {
    this.kinds = kinds;
  }

  add(kind: string): void {
    if (!this.kinds.has(kind)) this.kinds = new Set(this.kinds).add(kind);
  }
}

/** A number for the first two units of a word, without their case, and its length. */
function hashOf(text: string, start: number, end: number): number {
  const second = end - start > 1 ? text.charCodeAt(start + 1) | 32 : 0;
  return ((text.charCodeAt(start) | 32) * 131 + second * 31 + (end - start)) & (TABLE_SIZE - 1);
}

/** Whether words follow at a place, with few units between them. */
function follows(text: string, place: number, to: number, words: readonly string[]): boolean {
  let at = place;
  for (const word of words) {
    const limit = at + MAX_GAP;
    while (at < limit && at < to && !isWordUnit(text.charCodeAt(at))) at += 1;
    const end = at + word.length;
    if (end > to || text.slice(at, end).toLowerCase() !== word) return false;
    if (end < to && isWordUnit(text.charCodeAt(end))) return false;
    at = end;
  }
  return true;
}

/** The start of the window before a place, which cuts no word. */
function wordStart(text: string, place: number): number {
  let start = Math.max(0, place - BEFORE);
  if (start > 0) while (start < place && isWordUnit(text.charCodeAt(start - 1))) start += 1;
  return start;
}

/** Runs of letters, in lower case. */
function wordsOf(phrase: string): string[] {
  const words: string[] = [];
  let start = -1;
  for (let at = 0; at <= phrase.length; at += 1) {
    const isWord = at < phrase.length && isWordUnit(phrase.charCodeAt(at));
    if (isWord && start < 0) start = at;
    else if (!isWord && start >= 0) {
      words.push(phrase.slice(start, at).toLowerCase());
      start = -1;
    }
  }
  return words;
}

/** Letters of ASCII, and all beyond but spaces and general punctuation. */
function isWordUnit(unit: number): boolean {
  if (unit < 128) return (unit >= 97 && unit <= 122) || (unit >= 65 && unit <= 90);
  return (
    unit >= 0xc0 && (unit < 0x2000 || unit > 0x206f) && (unit < 0x3000 || unit > 0x303f) && unit < 0xff00
  );
}

/** From the radicals of Han on, and Hebrew and Devanagari, whose phrases have signs of their own. */
function isUnspaced(unit: number): boolean {
  return unit >= 0x2e80 || (unit >= 0x590 && unit <= 0x5ff) || (unit >= 0x900 && unit <= 0x97f);
}
